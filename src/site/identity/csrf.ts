// CSRF protection: accepts a form only from one of our pages, sent by the visitor it was made for. Each of two checks is
// enough by itself: the headers in which a browser names the page's origin, and a token that only this page contains.

import type { FastifyRequest } from 'fastify';
import { isSameText, tokenOf } from '../../service/account/secret.ts';
import { AppError } from '../../shared/errors.ts';

const PURPOSE = 'form';

/** Returns the token for forms, derived from the secret in the visitor's session cookie. */
export function csrfToken(secret: string): string {
  return tokenOf(secret, PURPOSE);
}

export function assertNotForged(
  request: FastifyRequest,
  publicUrl: string,
  secret: string | undefined,
  token: string,
): void {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') throw refused('This form was sent from another site.');
  if (origin !== undefined && !isOwnOrigin(origin, host, publicUrl)) {
    throw refused(
      'This form was sent from an unexpected address. Behind a proxy, the operator must set STORYBAR_PUBLIC_URL or ' +
        'forward the host header.',
    );
  }
  if (secret === undefined) {
    throw refused("Your browser didn't send our cookie. Allow cookies, and use HTTPS or localhost.");
  }
  if (!isSameText(token, csrfToken(secret))) {
    throw refused('This form has expired. Go back, reload and try again.');
  }
}

/** Ignores the scheme, because behind a proxy that terminates TLS, requests arrive over plain HTTP. */
function isOwnOrigin(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  if (publicUrl !== '' && origin === new URL(publicUrl).origin) return true;
  return new URL(origin).host === host?.toLowerCase();
}

function refused(detail: string): AppError {
  return new AppError('form_refused', detail);
}
