// Elements a page must have; one that is missing, or is something else, is a bug of the page and said so.

export function find<Kind extends Element>(root: ParentNode, selector: string, kind: new () => Kind): Kind {
  const element = root.querySelector(selector);
  if (element instanceof kind) return element;
  throw new Error(`the page has no ${kind.name} ${selector}`);
}
