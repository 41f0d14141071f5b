// Was a form sent by a page of ours, to the person we gave it to? Two answers, each enough by itself: what the browser says
// about where the form was, and a token that only that person's page could have held.

import type { FastifyRequest } from 'fastify';
import { isSameText, tokenOf } from '../../account/secret.ts';
import { AppError } from '../../errors.ts';

const PURPOSE = 'form';

export function formToken(secret: string): string {
  return tokenOf(secret, PURPOSE);
}

export function assertOwnForm(
  request: FastifyRequest,
  publicUrl: string,
  secret: string | undefined,
  token: string,
): void {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') throw refused('The form came from another site.');
  if (origin !== undefined && !isOwnOrigin(origin, host, publicUrl)) {
    throw refused(
      'The form came from another address than the one the service believes to have. ' +
        'Behind a proxy, its operator sets STORYBAR_PUBLIC_URL or passes the host on.',
    );
  }
  if (secret === undefined) {
    throw refused('The browser did not send our cookie. Allow cookies, and use HTTPS (or localhost).');
  }
  if (!isSameText(token, formToken(secret))) {
    throw refused('The form is too old: somebody signed in or out since. Go back, reload the page and send it again.');
  }
}

/** The scheme is not compared: behind a proxy that speaks HTTPS we see plain requests. */
function isOwnOrigin(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  if (publicUrl !== '' && origin === new URL(publicUrl).origin) return true;
  return new URL(origin).host === host?.toLowerCase();
}

function refused(detail: string): AppError {
  return new AppError('form_refused', detail);
}
