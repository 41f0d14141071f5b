// The origin of a web page, as a browser sends it: scheme, host and port.

export const MAX_ORIGINS = 20;

/**
 * Returns the origin in the form that browsers send, or undefined when the text isn't one. A path is refused, because
 * it would have no effect.
 */
export function parseOrigin(text: string): string | undefined {
  const trimmed = text.trim().replace(/\/$/u, '');
  if (!/^https?:\/\/[^/?#\\@]+$/iu.test(trimmed) || !URL.canParse(trimmed)) return undefined;
  const { origin, hostname } = new URL(trimmed);
  // An asterisk is legal in a URL, but wildcards aren't supported.
  return hostname.includes('*') ? undefined : origin;
}
