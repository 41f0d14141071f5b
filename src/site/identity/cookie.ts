// The cookies of the site. The `__Host-` prefix binds a cookie to this host and to HTTPS, so no other page or subdomain can
// plant one. Not every browser accepts the prefix on localhost without HTTPS, so cookies have a plain name there.

import type { FastifyReply, FastifyRequest } from 'fastify';

export type CookieName = 'storybar' | 'storybar-device' | 'storybar-new-key' | 'storybar-provider';

export interface NewCookie {
  readonly name: CookieName;
  readonly value: string;
  /** Without it, the browser deletes the cookie when it is closed. 0 deletes it immediately. */
  readonly maxAgeSeconds?: number;
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/iu;

/** Returns false behind a proxy, which may use HTTPS toward the browser. */
function isPlainLoopback({ protocol, headers }: FastifyRequest, publicUrl: string): boolean {
  if (publicUrl.startsWith('https:') || protocol !== 'http' || 'x-forwarded-for' in headers) return false;
  return LOOPBACK.test(headers.host ?? '');
}

export function readCookie(request: FastifyRequest, publicUrl: string, name: CookieName): string | undefined {
  const prefix = `${isPlainLoopback(request, publicUrl) ? name : `__Host-${name}`}=`;
  return (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(prefix))
    ?.slice(prefix.length);
}

export function writeCookie(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  publicUrl: string,
  { name, value, maxAgeSeconds }: NewCookie,
): void {
  const isPlain = isPlainLoopback(request, publicUrl);
  const parts = [`${isPlain ? name : `__Host-${name}`}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (!isPlain) parts.push('Secure');
  if (maxAgeSeconds !== undefined) parts.push(`Max-Age=${maxAgeSeconds}`);
  reply.header('set-cookie', parts.join('; '));
}
