// `put_url` and `put_headers`: the finished file is sent to the caller's own storage.

export interface PutRequest {
  /** Its query is a secret, because it gives access to the caller's bucket. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const HEADER_NAME = /^(?:cache-control|x-(?:amz|ms|goog)-[a-z0-9-]+)$/u;

export function isAllowedHeader(name: string): boolean {
  return HEADER_NAME.test(name.toLowerCase());
}

/** Returns the part of the URL that isn't secret: scheme, host and path. Anything but a URL has none. */
export function publicPartOf(url: unknown): string {
  if (typeof url !== 'string' || !URL.canParse(url.trim())) return '';
  const { origin, pathname } = new URL(url.trim());
  return `${origin}${pathname}`;
}
