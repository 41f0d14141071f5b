// The page to change the password and to sign out of all devices.

import type { FastifyReply } from 'fastify';
import { passwordFault } from '../../account/password.ts';
import type { Store } from '../../store/store.ts';
import { html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { SessionGuard, SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { field } from './fields.ts';
import { form, seeOther, sendPrivate, shownEmail } from './frame.ts';
import { PASSWORD_HINT } from './public-forms.ts';
import type { SignedInRoutes } from './signed-in-routes.ts';

export interface SecurityDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'sessions'>;
  readonly sessionGuard: SessionGuard;
  readonly identity: Identity;
}

interface PasswordFaults {
  readonly current?: string;
  readonly next?: string;
}

const PATH = '/dashboard/security';

export function addSecurityPages(
  routes: SignedInRoutes,
  { site, store, sessionGuard, identity }: SecurityDependencies,
): void {
  routes.page(PATH, async (visit) => securityPage(site, visit, {}));
  routes.action(PATH, async (visit, fields) => {
    const { user, request } = visit;
    const next = fields.text('next');
    const fault = passwordFault(next, shownEmail(visit));
    if (fault !== undefined) return securityPage(site, visit, { next: fault });
    const authenticated = await identity.changePassword(user, fields.text('current'), next, request.ip);
    if (authenticated === undefined) return securityPage(site, visit, { current: 'Incorrect current password.' });
    await sessionGuard.signIn(visit, authenticated);
    return seeOther(visit, `${PATH}?done=password`);
  });
  routes.action(`${PATH}/sign-out-everywhere`, async (visit) => {
    await store.sessions.endAll(visit.user.id);
    await sessionGuard.signOut(visit);
    return seeOther(visit, '/signin?done=signed-out-everywhere');
  });
}

function securityPage(site: Site, visit: SignedInVisit, { current, next }: PasswordFaults): FastifyReply {
  const currentField = { name: 'current', label: 'Current password', autocomplete: 'current-password' };
  const nextField = { name: 'next', label: 'New password', autocomplete: 'new-password', hint: PASSWORD_HINT };
  const body = html`${form(
    visit,
    PATH,
    html`<input type="hidden" name="username" value="${shownEmail(visit)}" autocomplete="username">
${field({ ...currentField, type: 'password', fault: current })}
${field({ ...nextField, type: 'password', fault: next })}
<p class="actions"><button class="button" type="submit">Change password</button></p>`,
    'stacked',
  )}
<section aria-labelledby="devices">
<h2 id="devices">Devices</h2>
<p>Sign out of all devices, including this one.</p>
${form(visit, `${PATH}/sign-out-everywhere`, html`<button class="button quiet" type="submit">Sign out everywhere</button>`)}
</section>`;
  const status = current === undefined && next === undefined ? 200 : 422;
  return sendPrivate(site, visit, { title: 'Password', path: PATH, body, status });
}
