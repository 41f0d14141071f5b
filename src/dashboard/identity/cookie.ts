// The one cookie of the site. `__Host-` binds it to this host and to HTTPS; nobody else's page or subdomain can plant one.
// On this machine itself, without HTTPS, not every browser takes such a cookie, so there it has a plain name.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSecret } from '../../account/secret.ts';

const SECURE_NAME = '__Host-storybar';
const PLAIN_NAME = 'storybar';
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/iu;

/** Whoever stands between us and the browser may speak HTTPS to it. */
function isPlainLoopback({ protocol, headers }: FastifyRequest, publicUrl: string): boolean {
  if (publicUrl.startsWith('https:') || protocol !== 'http' || 'x-forwarded-for' in headers) return false;
  return LOOPBACK.test(headers.host ?? '');
}

export function readCookie(request: FastifyRequest, publicUrl: string): string | undefined {
  const name = isPlainLoopback(request, publicUrl) ? PLAIN_NAME : SECURE_NAME;
  const found = (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);
  return found !== undefined && isSecret(found) ? found : undefined;
}

/** Without `maxAgeSeconds` the browser forgets it when it is closed; with 0 at once. */
export function writeCookie(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  publicUrl: string,
  secret: string,
  maxAgeSeconds?: number,
): void {
  const isPlain = isPlainLoopback(request, publicUrl);
  const parts = [`${isPlain ? PLAIN_NAME : SECURE_NAME}=${secret}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (!isPlain) parts.push('Secure');
  if (maxAgeSeconds !== undefined) parts.push(`Max-Age=${maxAgeSeconds}`);
  reply.header('set-cookie', parts.join('; '));
}
