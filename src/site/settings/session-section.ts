// The devices on which a user is signed in: a list, and signing out of one or of all others.

import { hashSecret } from '../../service/account/secret.ts';
import { AppError } from '../../shared/errors.ts';
import type { Store } from '../../service/store/store.ts';
import type { SessionSummary } from '../../service/store/people/sessions.ts';
import type { UserRole } from '../../service/store/people/user.ts';
import { time } from '../account/fields.ts';
import { form, seeOther } from '../account/frame.ts';
import type { SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { SessionGuard, SignedInVisit } from '../identity/session-guard.ts';
import { SESSION_TIMEOUTS } from '../identity/session-timeouts.ts';
import { table } from '../tables.ts';
import { deviceName } from './device-name.ts';

export interface SessionDependencies {
  readonly store: Pick<Store, 'sessions'>;
  readonly sessionGuard: SessionGuard;
}

const SECURITY_PATH = '/dashboard/security';

export function addSessionActions(routes: SignedInRoutes, { store, sessionGuard }: SessionDependencies): void {
  const { sessions } = store;
  routes.action({ path: `${SECURITY_PATH}/end-session`, permission: 'self' }, async (visit, fields) => {
    const id = fields.text('session');
    // Only sessions of this user are searched, so that no id of another user's session can end it.
    const session = (await sessions.list(visit.user.id)).find(({ hash }) => publicId(hash) === id);
    if (session === undefined) throw new AppError('not_found', 'This session has already ended.');
    if (session.hash === visit.sessionHash) {
      await sessionGuard.signOut(visit);
      return seeOther(visit, '/signin?done=signed-out');
    }
    await sessions.end(session.hash);
    return seeOther(visit, `${SECURITY_PATH}?done=session-ended`);
  });
  routes.action({ path: `${SECURITY_PATH}/end-other-sessions`, permission: 'self' }, async (visit) => {
    await sessions.endOthers(visit.user.id, visit.sessionHash);
    return seeOther(visit, `${SECURITY_PATH}?done=others-signed-out`);
  });
  routes.action({ path: `${SECURITY_PATH}/sign-out-everywhere`, permission: 'self' }, async (visit) => {
    await sessions.endAll(visit.user.id);
    await sessionGuard.signOut(visit);
    return seeOther(visit, '/signin?done=signed-out-everywhere');
  });
}

export async function sessionSection({ sessions }: Pick<Store, 'sessions'>, visit: SignedInVisit): Promise<Html> {
  const all = await sessions.list(visit.user.id);
  const button = (action: string, label: string): Html =>
    form(visit, `${SECURITY_PATH}/${action}`, html`<button class="button quiet" type="submit">${label}</button>`);
  return html`<section aria-labelledby="devices">
<h2 id="devices">Devices</h2>
${table(
  'Devices',
  ['Device', 'Last used', 'Signed in', ''],
  all.map((session) => sessionRow(visit, session)),
)}
<div class="actions">
${all.length > 1 && button('end-other-sessions', 'Sign out of all other devices')}
${button('sign-out-everywhere', 'Sign out everywhere')}
</div>
</section>`;
}

function sessionRow(visit: SignedInVisit, { hash, userAgent, createdAt, idleUntil }: SessionSummary): Html[] {
  const device = deviceName(userAgent ?? '');
  const isCurrent = hash === visit.sessionHash;
  const content = html`<input type="hidden" name="session" value="${publicId(hash)}">
<button class="link" type="submit" aria-label="Sign out of ${device}, signed in ${createdAt.toISOString().slice(0, 16)}">Sign out</button>`;
  return [
    html`<span title="${userAgent}">${device}</span>${isCurrent && html` <span class="state good">this device</span>`}`,
    time(lastUsed(idleUntil, visit.user.role).toISOString()),
    time(createdAt.toISOString()),
    form(visit, `${SECURITY_PATH}/end-session`, content),
  ];
}

/** Returns the time to the minute, because each visit extends the session to the same time after the visit. */
function lastUsed(idleUntil: Date, role: UserRole): Date {
  return new Date(idleUntil.getTime() - SESSION_TIMEOUTS[role].idleMs);
}

/** Returns the name of a session in a form. The hash in the store stays on the server. */
function publicId(hash: string): string {
  return hashSecret(hash).slice(0, 32);
}
