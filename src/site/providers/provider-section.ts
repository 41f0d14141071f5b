// Connecting and disconnecting providers on the security page. Connecting needs the password, like every new way to sign in.

import type { FastifyReply } from 'fastify';
import { PROVIDER_NAMES, SIGN_IN_PROVIDERS, type SignInProvider } from '../../service/account/sign-in-provider.ts';
import { AppError } from '../../shared/errors.ts';
import type { Store } from '../../service/store/store.ts';
import { field, time } from '../account/fields.ts';
import { form, seeOther, sendPrivate, shownEmail } from '../account/frame.ts';
import { queryOf, type SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import { type Identity, PASSWORD_FIRST } from '../identity/identity.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { table } from '../tables.ts';
import type { LeaveForProvider } from './provider-pages.ts';
import type { ProviderSignIn } from './provider-sign-in.ts';

export interface ProviderSectionDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'linkedIdentities'>;
  readonly identity: Identity;
  readonly providerSignIn: ProviderSignIn;
}

const SECURITY_PATH = '/dashboard/security';
const PATH = '/dashboard/security/providers';
const CONFIRM_FIRST = 'Confirm your email address before you connect another account.';
const LAST_WAY = 'You’d have no way to sign in. Set a password first.';

export function addProviderActions(
  routes: SignedInRoutes,
  { site, store, identity, providerSignIn }: ProviderSectionDependencies,
  leave: LeaveForProvider,
): void {
  if (providerSignIn.providers.length > 0) {
    const show = async (visit: SignedInVisit, provider: SignInProvider, fault?: string): Promise<FastifyReply> => {
      const why = reasonAgainst(visit);
      const body =
        why === undefined
          ? connectForm(visit, provider, fault)
          : html`<p>${why}</p>
<p class="actions"><a class="button" href="${SECURITY_PATH}">Back to Security</a></p>`;
      const title = `Connect ${PROVIDER_NAMES[provider]}`;
      return await sendPrivate(site, visit, { title, body, status: fault === undefined ? 200 : 422 });
    };
    const configured = (name: string | undefined): SignInProvider => {
      const provider = providerSignIn.providers.find((each) => each === name);
      if (provider === undefined) throw new AppError('not_found', 'This provider isn’t set up here.');
      return provider;
    };

    routes.page(
      { path: PATH, permission: 'self' },
      async (visit) => await show(visit, configured(queryOf(visit, 'provider'))),
    );
    routes.action({ path: PATH, permission: 'self' }, async (visit, fields) => {
      const { user, request } = visit;
      const provider = configured(fields.text('provider'));
      const why = reasonAgainst(visit);
      if (why !== undefined) throw new AppError('invalid_fields', why);
      if (!(await identity.checkPassword(user, fields.text('password'), request.ip))) {
        return await show(visit, provider, 'Incorrect password.');
      }
      return await leave(visit, { provider, userId: user.id, next: '' });
    });
  }
  // This also works for a provider that isn't configured any more.
  routes.action({ path: `${PATH}/disconnect`, permission: 'self' }, async ({ user, ...visit }, fields) => {
    const provider = SIGN_IN_PROVIDERS.find((each) => each === fields.text('provider'));
    const result = provider && (await store.linkedIdentities.unlink(user.id, provider, providerSignIn.providers));
    if (result === 'last way') throw new AppError('invalid_fields', LAST_WAY);
    if (result !== 'unlinked') throw new AppError('not_found', 'This provider has already been disconnected.');
    return seeOther(visit, `${SECURITY_PATH}?done=provider-unlinked`);
  });
}

/** The section of the security page. Returns undefined when there is nothing to connect or disconnect. */
export async function providerSection(
  visit: SignedInVisit,
  { linkedIdentities }: Pick<Store, 'linkedIdentities'>,
  { providers }: ProviderSignIn,
): Promise<Html | undefined> {
  const linked = await linkedIdentities.list(visit.user.id);
  const others = providers.filter((each) => linked.every(({ provider }) => provider !== each));
  if (linked.length + others.length === 0) return undefined;
  return html`<section aria-labelledby="providers">
<h2 id="providers">Connected accounts</h2>
<p>Sign in with an account you have elsewhere, without a password.</p>
${
  linked.length > 0 &&
  table(
    'Connected accounts',
    ['Provider', 'Account', 'Connected', 'Last used', 'Disconnect'],
    linked.map(({ provider, email, createdAt, lastUsedAt }) => [
      PROVIDER_NAMES[provider],
      email,
      time(createdAt.toISOString()),
      time(lastUsedAt.toISOString()),
      form(
        visit,
        `${PATH}/disconnect`,
        html`<input type="hidden" name="provider" value="${provider}"><button class="link" type="submit" aria-label="Disconnect ${PROVIDER_NAMES[provider]}">Disconnect</button>`,
      ),
    ]),
  )
}
${
  others.length > 0 &&
  html`<p class="actions">${others.map(
    (each) => html`<a class="button quiet" href="${PATH}?provider=${each}">Connect ${PROVIDER_NAMES[each]}</a> `,
  )}</p>`
}
</section>`;
}

function reasonAgainst({ user }: SignedInVisit): string | undefined {
  if (user.unconfirmedEmail !== null) return CONFIRM_FIRST;
  return user.passwordHash === null ? PASSWORD_FIRST : undefined;
}

function connectForm(visit: SignedInVisit, provider: SignInProvider, fault: string | undefined): Html {
  const name = PROVIDER_NAMES[provider];
  return html`<p>You continue at ${name} and come back here. Afterwards, you can sign in with ${name} too.</p>
${form(
  visit,
  PATH,
  html`<input type="hidden" name="provider" value="${provider}">
<input type="hidden" name="username" value="${shownEmail(visit)}" autocomplete="username">
${field({ name: 'password', label: 'Current password', type: 'password', autocomplete: 'current-password', fault })}
<p class="actions"><button class="button" type="submit">Continue to ${name}</button> <a class="button quiet" href="${SECURITY_PATH}">Back</a></p>`,
  'stacked',
)}`;
}
