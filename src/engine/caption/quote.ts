// Quotes a client's values in error messages.

/** How many characters of a client's value an error message repeats. */
const MAX_QUOTED_LENGTH = 32;

/** Returns a JSON pointer as a URI fragment (RFC 6901). The name is truncated because the client chooses it. */
export function pointerTo(name: string): string {
  const escaped = name.toWellFormed().slice(0, 64).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1');
  return `#/${encodeURIComponent(escaped)}`;
}

export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export function quoteValue(value: string): string {
  return `"${shorten(value)}"`;
}

/** Quotes a string of a JSON value. */
export function quoteJson(value: string): string {
  return JSON.stringify(shorten(value));
}

export function shorten(value: string): string {
  return value.length <= MAX_QUOTED_LENGTH ? value : `${value.slice(0, MAX_QUOTED_LENGTH).toWellFormed()}...`;
}

export function capitalize(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
