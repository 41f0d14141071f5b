// The security page: the password, the second factor, passkeys, and the devices on which the user is signed in.

import type { FastifyReply } from 'fastify';
import { passwordFault } from '../../service/account/password.ts';
import { AppError } from '../../shared/errors.ts';
import type { Store } from '../../service/store/store.ts';
import { addressOf } from '../../service/store/people/user.ts';
import { type Html, html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { SessionGuard, SignedInVisit } from '../identity/session-guard.ts';
import type { TwoFactor } from '../identity/two-factor.ts';
import type { Site } from '../page.ts';
import { providerSection } from '../providers/provider-section.ts';
import type { ProviderSignIn } from '../providers/provider-sign-in.ts';
import { addEmailPage, emailSection } from '../settings/email-page.ts';
import { passkeySection } from '../settings/passkey-pages.ts';
import { addSessionActions, sessionSection } from '../settings/session-section.ts';
import { twoFactorSection } from '../settings/two-factor-page.ts';
import { field } from './fields.ts';
import { form, seeOther, sendPrivate, shownEmail } from './frame.ts';
import { NO_EMAIL } from './password-pages.ts';
import { PASSWORD_HINT } from './public-forms.ts';
import type { SignedInRoutes } from './signed-in-routes.ts';

export interface SecurityDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'sessions' | 'passkeys' | 'linkedIdentities'>;
  readonly sessionGuard: SessionGuard;
  readonly identity: Identity;
  readonly twoFactor: TwoFactor;
  readonly providerSignIn: ProviderSignIn;
}

interface PasswordFaults {
  readonly current?: string;
  readonly next?: string;
}

const PATH = '/dashboard/security';
const PASSWORD_LINK_PATH = '/dashboard/security/password-link';

export function addSecurityPages(routes: SignedInRoutes, dependencies: SecurityDependencies): void {
  const { sessionGuard, identity } = dependencies;
  const show = async (visit: SignedInVisit, faults: PasswordFaults): Promise<FastifyReply> =>
    await securityPage(dependencies, visit, faults);

  routes.page({ path: PATH, permission: 'self', tab: 'Security' }, async (visit) => await show(visit, {}));
  routes.action({ path: PATH, permission: 'self' }, async (visit, fields) => {
    const { user, request } = visit;
    const next = fields.text('next');
    const fault = passwordFault(next, shownEmail(visit));
    if (fault !== undefined) return await show(visit, { next: fault });
    const authenticated = await identity.changePassword(user, fields.text('current'), next, request.ip);
    if (authenticated === undefined) return await show(visit, { current: 'Incorrect current password.' });
    await sessionGuard.signIn(visit, authenticated);
    return seeOther(visit, `${PATH}?done=password`);
  });
  routes.action({ path: PASSWORD_LINK_PATH, permission: 'self' }, async (visit) => {
    const { user, request } = visit;
    if (!identity.sendsEmail) throw new AppError('not_found', NO_EMAIL);
    await identity.requestLink({ email: addressOf(user), address: request.ip, requestId: request.id });
    return seeOther(visit, `${PATH}?done=password-link-sent`);
  });
  addSessionActions(routes, dependencies);
  addEmailPage(routes, dependencies);
}

async function securityPage(
  { site, store, twoFactor, identity, providerSignIn }: SecurityDependencies,
  visit: SignedInVisit,
  faults: PasswordFaults,
): Promise<FastifyReply> {
  const hasPassword = visit.user.passwordHash !== null;
  const body = html`${hasPassword ? passwordForm(visit, faults) : noPasswordSection(visit, identity)}
${emailSection(visit, identity)}
${twoFactorSection(await twoFactor.state(visit.user))}
${passkeySection(visit, await store.passkeys.list(visit.user.id))}
${await providerSection(visit, store, providerSignIn)}
${await sessionSection(store, visit)}`;
  const status = faults.current === undefined && faults.next === undefined ? 200 : 422;
  return await sendPrivate(site, visit, { title: 'Security', body, status });
}

/**
 * The section for a user who signed up with a provider. The link proves that they still read emails to their address.
 */
function noPasswordSection(visit: SignedInVisit, { sendsEmail }: Identity): Html {
  const send = html`<p class="actions"><button class="button quiet" type="submit">Email me a link to set one</button></p>`;
  return html`<section aria-labelledby="password">
<h2 id="password">Password</h2>
<p>You don’t have a password. You need one to turn on two-factor authentication, to add passkeys, to change your email address and to delete your account. Setting one disconnects the accounts below. You can connect them again afterwards.</p>
${sendsEmail ? form(visit, PASSWORD_LINK_PATH, send) : html`<p>${NO_EMAIL}</p>`}
</section>`;
}

function passwordForm(visit: SignedInVisit, { current, next }: PasswordFaults): Html {
  const currentField = { name: 'current', label: 'Current password', autocomplete: 'current-password' };
  const nextField = { name: 'next', label: 'New password', autocomplete: 'new-password', hint: PASSWORD_HINT };
  return html`<section aria-labelledby="password">
<h2 id="password">Password</h2>
${form(
  visit,
  PATH,
  html`<input type="hidden" name="username" value="${shownEmail(visit)}" autocomplete="username">
${field({ ...currentField, type: 'password', fault: current })}
${field({ ...nextField, type: 'password', fault: next })}
<p class="actions"><button class="button" type="submit">Change password</button></p>`,
  'stacked',
)}
</section>`;
}
