// Typed lookup of elements that a page must have. A missing element is a bug in the page.

export function find<Kind extends Element>(root: ParentNode, selector: string, kind: new () => Kind): Kind {
  const element = root.querySelector(selector);
  if (element instanceof kind) return element;
  throw new Error(`no ${kind.name} matches ${selector}`);
}
