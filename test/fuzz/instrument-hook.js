// Adds a counter to every branch: the body of each function, each part of a condition, each iteration of a loop.

import ts from 'typescript-5';

const INSTRUMENTED = /\/src\/(?!shared\/|.*\.generated\.ts)/u;
const LAZY_OPERATORS = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);
const { factory } = ts;

let counters = 0;

/** Called by Node.js for each module. */
export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (loaded.format !== 'module' || !INSTRUMENTED.test(url)) return loaded;
  return { ...loaded, source: instrument(String(loaded.source)) };
}

export function instrument(source) {
  const literals = new Set();
  const transformers = {
    before: [(context) => (file) => ts.visitEachChild(file, visitor(context, literals), context)],
  };
  const compilerOptions = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext };
  const { outputText } = ts.transpileModule(source, { compilerOptions, transformers });
  const head = `globalThis.fuzzLiterals.push(...${JSON.stringify([...literals])}); globalThis.fuzzBranches = Math.max(globalThis.fuzzBranches, ${counters});`;
  return `${head}\n${outputText}`;
}

function visitor(context, literals) {
  const visit = (node) => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) literals.add(node.text);
    if (ts.isNumericLiteral(node)) literals.add(Number(node.text));
    return withCounter(ts.visitEachChild(node, visit, context));
  };
  return visit;
}

function withCounter(node) {
  if (ts.isFunctionLike(node) && node.body !== undefined) return withCountedBody(node);
  if (ts.isIfStatement(node)) {
    const otherwise = node.elseStatement && counted(node.elseStatement);
    return factory.updateIfStatement(node, node.expression, counted(node.thenStatement), otherwise);
  }
  if (ts.isConditionalExpression(node)) {
    const [one, other] = [countedValue(node.whenTrue), countedValue(node.whenFalse)];
    return factory.updateConditionalExpression(node, node.condition, node.questionToken, one, node.colonToken, other);
  }
  if (ts.isBinaryExpression(node) && LAZY_OPERATORS.has(node.operatorToken.kind)) {
    return factory.updateBinaryExpression(node, node.left, node.operatorToken, countedValue(node.right));
  }
  if (ts.isCaseClause(node)) {
    return factory.updateCaseClause(node, node.expression, [countStatement(), ...node.statements]);
  }
  if (ts.isDefaultClause(node)) return factory.updateDefaultClause(node, [countStatement(), ...node.statements]);
  return withCountedIteration(node);
}

function withCountedIteration(node) {
  if (ts.isForStatement(node)) {
    const { initializer, condition, incrementor } = node;
    return factory.updateForStatement(node, initializer, condition, incrementor, counted(node.statement));
  }
  if (ts.isForOfStatement(node)) {
    const { awaitModifier, initializer, expression } = node;
    return factory.updateForOfStatement(node, awaitModifier, initializer, expression, counted(node.statement));
  }
  if (ts.isWhileStatement(node)) return factory.updateWhileStatement(node, node.expression, counted(node.statement));
  if (ts.isCatchClause(node)) return factory.updateCatchClause(node, node.variableDeclaration, counted(node.block));
  return node;
}

function withCountedBody(node) {
  const body = ts.isBlock(node.body) ? counted(node.body) : countedValue(node.body);
  if (ts.isArrowFunction(node)) {
    const { modifiers, typeParameters, parameters, type, equalsGreaterThanToken } = node;
    return factory.updateArrowFunction(node, modifiers, typeParameters, parameters, type, equalsGreaterThanToken, body);
  }
  if (ts.isFunctionDeclaration(node)) {
    const { modifiers, asteriskToken, name, typeParameters, parameters, type } = node;
    return factory.updateFunctionDeclaration(
      node,
      modifiers,
      asteriskToken,
      name,
      typeParameters,
      parameters,
      type,
      body,
    );
  }
  if (ts.isMethodDeclaration(node)) {
    const { modifiers, asteriskToken, name, questionToken, typeParameters, parameters, type } = node;
    return factory.updateMethodDeclaration(
      node,
      modifiers,
      asteriskToken,
      name,
      questionToken,
      typeParameters,
      parameters,
      type,
      body,
    );
  }
  return node;
}

function counted(statement) {
  const statements = ts.isBlock(statement) ? statement.statements : [statement];
  return factory.createBlock([countStatement(), ...statements], true);
}

function countedValue(expression) {
  return factory.createParenthesizedExpression(factory.createComma(count(), expression));
}

function countStatement() {
  return factory.createExpressionStatement(count());
}

function count() {
  const table = factory.createPropertyAccessExpression(factory.createIdentifier('globalThis'), 'fuzzCounters');
  counters += 1;
  return factory.createPostfixIncrement(factory.createElementAccessExpression(table, counters));
}
