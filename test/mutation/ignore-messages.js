// A plugin of Stryker that leaves texts for people unchanged: messages of errors and log entries. Tests compare codes, not texts.

const MESSAGE_VARIABLES = new Set(['detail', 'error', 'message']);

/** `path` is Babel's path of a node. */
function isMessage(path) {
  if (!path.isStringLiteral() && !path.isTemplateLiteral()) return false;
  const { parent, parentPath, key } = path;
  if (parentPath.isVariableDeclarator()) return MESSAGE_VARIABLES.has(parent.id.name);
  if (parentPath.isObjectProperty()) return MESSAGE_VARIABLES.has(parent.key.name);
  if (path.listKey !== 'arguments') return false;
  // The first argument of our own errors is a code or the name of a field.
  if (parentPath.isNewExpression()) return parent.callee.name === 'Error' || (isError(parent.callee.name) && key === 1);
  return parentPath.isCallExpression() && (parent.callee.name === 'must' || isLogger(parent.callee));
}

function isError(name) {
  return name === 'AppError' || name === 'InvalidReport';
}

function isLogger({ type, object }) {
  return type === 'MemberExpression' && (object.property?.id?.name ?? object.name) === 'logger';
}

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'messages',
    value: { shouldIgnore: (path) => (isMessage(path) ? 'a text for people' : undefined) },
  },
];
