// Adding and removing passkeys, and signing in with one. The browser module `passkeys.ts` asks the device, and the
// forms here carry its response.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { hashSecret } from '../../service/account/secret.ts';
import { AppError } from '../../shared/errors.ts';
import { requestBaseUrl } from '../../service/http/transport/request-base-url.ts';
import { MAX_PASSKEYS, type Passkey } from '../../service/store/people/passkeys.ts';
import type { Store } from '../../service/store/store.ts';
import type { User } from '../../service/store/people/user.ts';
import { field, time } from '../account/fields.ts';
import { form, PRIVATE_HEADERS, seeOther, sendPrivate } from '../account/frame.ts';
import type { PublicForms } from '../account/public-forms.ts';
import { homeOf, isPrivatePath, type SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { PasskeySignIn, PasskeyVisitor } from '../identity/passkey-sign-in.ts';
import type { SessionGuard, SignedInVisit, Visit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { table } from '../tables.ts';

export interface PasskeyDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'passkeys'>;
  readonly identity: Identity;
  readonly sessionGuard: SessionGuard;
  readonly passkeySignIn: PasskeySignIn;
  /** Base URL of the site. If empty, it is taken from each request. */
  readonly publicUrl: string;
}

interface AddFaults {
  readonly name?: string;
  readonly form?: string;
}

export const PASSKEY_MODULE = 'passkeys.js';
const SECURITY_PATH = '/dashboard/security';
const PATH = '/dashboard/security/passkeys';
const SIGN_IN_PATH = '/signin/passkey';
const MAX_NAME = 60;
const CONFIRM_FIRST = 'Confirm your email address before you add a passkey.';

export function addPasskeyPages(routes: SignedInRoutes, dependencies: PasskeyDependencies): void {
  const { site, store, identity, passkeySignIn, publicUrl } = dependencies;
  const show = async (visit: SignedInVisit, typed: string, faults: AddFaults): Promise<FastifyReply> => {
    const status = Object.keys(faults).length > 0 ? 422 : 200;
    const body = visit.user.unconfirmedEmail === null ? addBody(visit, typed, faults) : html`<p>${CONFIRM_FIRST}</p>`;
    return await sendPrivate(site, visit, {
      title: 'Add a passkey',

      body,
      status,
      modules: [PASSKEY_MODULE],
    });
  };

  const assertMayAdd = async ({ id, unconfirmedEmail }: User): Promise<void> => {
    if (unconfirmedEmail !== null) throw new AppError('invalid_fields', CONFIRM_FIRST);
    if ((await store.passkeys.list(id)).length < MAX_PASSKEYS) return;
    throw new AppError('invalid_fields', `You can have up to ${MAX_PASSKEYS} passkeys. Remove one first.`);
  };

  routes.page({ path: PATH, permission: 'self' }, async (visit) => show(visit, '', {}));
  // The password is checked before the device creates the passkey, and the challenge proves that it was.
  routes.action({ path: `${PATH}/options`, permission: 'self' }, async (visit, fields) => {
    const { user, request, reply } = visit;
    await assertMayAdd(user);
    if (!(await identity.checkPassword(user, fields.text('password'), request.ip))) {
      throw new AppError('invalid_fields', 'Incorrect password.');
    }
    const options = await passkeySignIn.registrationOptions(user, visitorOf(visit, publicUrl));
    return reply.headers(PRIVATE_HEADERS).send(options);
  });
  routes.action({ path: PATH, permission: 'self' }, async (visit, fields) => {
    // This is checked again, because much can happen between the challenge and the device's response.
    await assertMayAdd(visit.user);
    const name = fields
      .text('name')
      .replaceAll(/\p{Cc}/gu, ' ')
      .trim();
    if (name === '' || name.length > MAX_NAME)
      return show(visit, name, { name: 'Name this passkey, such as “Laptop”.' });
    const visitor = visitorOf(visit, publicUrl);
    if (await passkeySignIn.register(visit.user, name, fields.text('response'), visitor)) {
      identity.reportSecurityChange(visit.user, 'passkey-added', visit.request.id);
      return seeOther(visit, `${SECURITY_PATH}?done=passkey-added`);
    }
    return show(visit, name, { form: 'The passkey couldn’t be added. Try again.' });
  });
  routes.action({ path: `${PATH}/remove`, permission: 'self' }, async (visit, fields) => {
    if (!(await store.passkeys.remove(visit.user.id, fields.text('passkey')))) {
      throw new AppError('not_found', 'This passkey has already been removed.');
    }
    return seeOther(visit, `${SECURITY_PATH}?done=passkey-removed`);
  });
}

export function addPasskeySignIn(forms: PublicForms, dependencies: PasskeyDependencies): void {
  const { sessionGuard, passkeySignIn, publicUrl } = dependencies;
  forms.action(`${SIGN_IN_PATH}/options`, async (visit) => {
    const options = await passkeySignIn.signInOptions(visitorOf(visit, publicUrl));
    return visit.reply.headers(PRIVATE_HEADERS).send(options);
  });
  forms.action(SIGN_IN_PATH, async (visit, fields) => {
    const authenticated = await passkeySignIn.signIn(fields.text('response'), visitorOf(visit, publicUrl));
    if (authenticated === undefined) return seeOther(visit, '/signin?done=passkey-refused');
    await sessionGuard.signIn(visit, authenticated);
    const next = fields.text('next');
    return seeOther(visit, isPrivatePath(next) ? next : homeOf(authenticated.user));
  });
}

/** The form of the sign-in page. It is hidden until the browser module knows that the browser supports passkeys. */
export function passkeySignInForm(visit: Visit, next: string): Html {
  return html`<div data-passkey="get" data-options="${SIGN_IN_PATH}/options" hidden>
${form(
  visit,
  SIGN_IN_PATH,
  html`<input type="hidden" name="next" value="${isPrivatePath(next) ? next : ''}">
<input type="hidden" name="response" value="">
<p class="problem" role="alert" hidden></p>
<p class="actions"><button class="button quiet" type="submit">Sign in with a passkey</button></p>`,
)}
</div>`;
}

/** The section of the security page. */
export function passkeySection(visit: SignedInVisit, passkeys: readonly Passkey[]): Html {
  return html`<section aria-labelledby="passkeys">
<h2 id="passkeys">Passkeys</h2>
<p>Sign in with the fingerprint, face or PIN of your device, without a password.</p>
${
  passkeys.length > 0 &&
  table(
    'Passkeys',
    ['Name', 'Added', 'Last used', ''],
    passkeys.map(({ id, name, createdAt, lastUsedAt }) => [
      name,
      time(createdAt.toISOString()),
      time(lastUsedAt?.toISOString() ?? null),
      form(
        visit,
        `${PATH}/remove`,
        html`<input type="hidden" name="passkey" value="${id}"><button class="link" type="submit" aria-label="Remove the passkey ${name}">Remove</button>`,
      ),
    ]),
  )
}
<p class="actions"><a class="button quiet" href="${PATH}">Add a passkey</a></p>
</section>`;
}

function addBody(visit: SignedInVisit, typed: string, faults: AddFaults): Html {
  const name = { name: 'name', label: 'Name', value: typed, autocomplete: 'off', maxLength: MAX_NAME };
  const password = { name: 'password', label: 'Current password', autocomplete: 'current-password' };
  return html`<div data-passkey="create" data-options="${PATH}/options">
${form(
  visit,
  PATH,
  html`<p class="problem" role="alert"${faults.form === undefined && html` hidden`}>${faults.form}</p>
<input type="hidden" name="response" value="">
${field({ ...name, fault: faults.name, hint: 'For example, “Laptop” or “Phone”.' })}
${field({ ...password, type: 'password' })}
<p class="actions"><button class="button" type="submit">Add a passkey</button> <a class="button quiet" href="${SECURITY_PATH}">Back</a></p>`,
  'stacked',
)}
<noscript><p>Passkeys need JavaScript.</p></noscript>
</div>`;
}

/** The token of a form is as secret as the session that it is derived from, so its hash identifies the visitor. */
function visitorOf({ request, token }: Visit, publicUrl: string): PasskeyVisitor {
  return { visitor: hashSecret(token), origin: originOf(request, publicUrl), address: request.ip };
}

function originOf(request: FastifyRequest, publicUrl: string): string {
  const base = publicUrl || requestBaseUrl(request);
  if (!base)
    throw new AppError('invalid_fields', 'Passkeys need a host name. The operator must set STORYBAR_PUBLIC_URL.');
  return new URL(base).origin;
}
