// The origin of a web page, as a browser sends it: scheme, host and port, nothing else.

export const MAX_ORIGINS = 20;

/** As a browser would write it; undefined when it is no origin. A path is refused, so that nobody believes it counts. */
export function parseOrigin(text: string): string | undefined {
  const trimmed = text.trim().replace(/\/$/u, '');
  if (!/^https?:\/\/[^/?#\\@]+$/iu.test(trimmed) || !URL.canParse(trimmed)) return undefined;
  const { origin, hostname } = new URL(trimmed);
  // A star is a legal letter for a URL, and looks like a promise we do not keep.
  return hostname.includes('*') ? undefined : origin;
}
