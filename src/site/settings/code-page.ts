// The second step of signing in, for users with an authenticator app. A passkey is as secure as the password and the
// code together, so users who have one can use it instead.

import type { FastifyReply } from 'fastify';
import type { Store } from '../../service/store/store.ts';
import type { User } from '../../service/store/people/user.ts';
import { field } from '../account/fields.ts';
import { form, seeOther } from '../account/frame.ts';
import type { PublicForms } from '../account/public-forms.ts';
import { homeOf, isPrivatePath } from '../account/signed-in-routes.ts';
import { html } from '../html.ts';
import type { AuthenticatedUser } from '../identity/identity.ts';
import type { SessionGuard, Visit } from '../identity/session-guard.ts';
import type { TwoFactor } from '../identity/two-factor.ts';
import { PASSKEY_MODULE, passkeySignInForm } from './passkey-pages.ts';

export interface CodePageDependencies {
  readonly sessionGuard: SessionGuard;
  readonly twoFactor: TwoFactor;
  readonly store: Pick<Store, 'passkeys'>;
}

const PATH = '/signin/code';

/** Starts the session of a user whose password was right, or asks for the code first. `next` is a path on this site. */
export type CompleteSignIn = (visit: Visit, authenticated: AuthenticatedUser, next?: string) => Promise<FastifyReply>;

export function addCodePage(
  forms: PublicForms,
  { sessionGuard, twoFactor, store }: CodePageDependencies,
): CompleteSignIn {
  const show = async (
    visit: Visit,
    user: User,
    { pending, next }: { readonly pending: string; readonly next: string },
    fault?: string,
  ): Promise<FastifyReply> => {
    const hasPasskey = (await store.passkeys.list(user.id)).length > 0;
    const hint = 'The 6 digits in your authenticator app, or one of your recovery codes.';
    const body = html`${form(
      visit,
      PATH,
      html`<input type="hidden" name="pending" value="${pending}">
<input type="hidden" name="next" value="${next}">
${field({ name: 'code', label: 'Code', autocomplete: 'one-time-code', hint, fault, maxLength: 40 })}
<p class="actions"><button class="button" type="submit">Sign in</button></p>`,
    )}
${hasPasskey && passkeySignInForm(visit, next)}
<p class="small"><a href="/signin">Back to sign in</a></p>`;
    const modules = hasPasskey ? [PASSKEY_MODULE] : [];
    return forms.send(visit, { title: 'Enter your code', body, faults: { form: fault }, modules });
  };

  // Visitors get here by reloading or going back. There is nothing to show without the password.
  forms.page(PATH, (visit) => seeOther(visit, '/signin'));
  forms.action(PATH, async (visit, fields) => {
    const pending = fields.text('pending');
    const next = isPrivatePath(fields.text('next')) ? fields.text('next') : '';
    const user = await twoFactor.pendingUser(pending);
    if (user === undefined) return seeOther(visit, '/signin?done=sign-in-expired');
    const authenticated = await twoFactor.finish(user, fields.text('code'), visit.request.ip);
    if (authenticated === undefined) {
      return await show(visit, user, { pending, next }, 'Wrong code, or it was used before.');
    }
    await sessionGuard.signIn(visit, authenticated);
    return seeOther(visit, next || homeOf(authenticated.user));
  });

  return async (visit, authenticated, next = '') => {
    if ((await twoFactor.state(authenticated.user)) !== undefined) {
      const { user } = authenticated;
      return await show(visit, user, { pending: twoFactor.begin(user), next });
    }
    await sessionGuard.signIn(visit, authenticated);
    return seeOther(visit, next || homeOf(authenticated.user));
  };
}
