// The password, and being signed in elsewhere.

import type { FastifyReply } from 'fastify';
import { MIN_PASSWORD, passwordFault } from '../../account/password.ts';
import type { Store } from '../../store/store.ts';
import { html } from '../html.ts';
import type { SessionGuard, MemberVisit } from '../identity/session-guard.ts';
import type { Identity } from '../identity/identity.ts';
import type { Site } from '../page.ts';
import { field } from './fields.ts';
import { form, seeOther, sendPrivate } from './frame.ts';
import type { SignedInRoutes } from './signed-in-routes.ts';

export interface SecurityDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'sessions'>;
  readonly sessionGuard: SessionGuard;
  readonly identity: Identity;
}

interface Faults {
  readonly present?: string;
  readonly next?: string | undefined;
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
    const fault = passwordFault(next, user.email);
    if (fault !== undefined) return securityPage(site, visit, { next: fault });
    if (!(await identity.changePassword(user, fields.text('present'), next, request.ip))) {
      return securityPage(site, visit, { present: 'This is not your present password.' });
    }
    await sessionGuard.signIn(visit, user);
    return seeOther(visit, `${PATH}?done=password`);
  });
  routes.action(`${PATH}/sign-out-everywhere`, async (visit) => {
    await store.sessions.endAll(visit.user.id);
    await sessionGuard.signOut(visit);
    return seeOther(visit, '/signin?done=signed-out-everywhere');
  });
}

function securityPage(site: Site, visit: MemberVisit, { present, next }: Faults): FastifyReply {
  const hint = `At least ${MIN_PASSWORD} characters; a few words are fine.`;
  const label = 'Present password';
  const body = html`${form(
    visit,
    PATH,
    html`<input type="hidden" name="username" value="${visit.user.email}" autocomplete="username">
${field({ name: 'present', label, type: 'password', autocomplete: 'current-password', fault: present })}
${field({ name: 'next', label: 'New password', type: 'password', autocomplete: 'new-password', hint, fault: next })}
<p class="actions"><button class="button" type="submit">Change the password</button></p>`,
    'stacked',
  )}
<section aria-labelledby="devices">
<h2 id="devices">Other devices</h2>
<p>Lost a phone, or used somebody else’s computer? This ends every session, here too.</p>
${form(visit, `${PATH}/sign-out-everywhere`, html`<button class="button quiet" type="submit">Sign out everywhere</button>`)}
</section>`;
  const status = present === undefined && next === undefined ? 200 : 422;
  return sendPrivate(site, visit, { title: 'Password', path: PATH, body, status });
}
