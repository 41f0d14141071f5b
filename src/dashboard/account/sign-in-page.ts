// The sign-in page, and signing out.

import type { FastifyReply } from 'fastify';
import { parseEmail } from '../../account/email.ts';
import { html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { SessionGuard, Visit } from '../identity/session-guard.ts';
import { providerButtons, providerTerms } from '../providers/provider-buttons.ts';
import type { ProviderSignIn } from '../providers/provider-sign-in.ts';
import type { CompleteSignIn } from '../settings/code-page.ts';
import { PASSKEY_MODULE, passkeySignInForm } from '../settings/passkey-pages.ts';
import { field, problem } from './fields.ts';
import { form, seeOther } from './frame.ts';
import { emailField, type FormFaults, type PublicForms } from './public-forms.ts';
import { isPrivatePath, queryOf } from './signed-in-routes.ts';

export interface SignInDependencies {
  readonly sessionGuard: SessionGuard;
  readonly identity: Identity;
  readonly providerSignIn: ProviderSignIn;
  /** False: new users need a link from the operator. */
  readonly signUpOpen: boolean;
}

interface Typed {
  readonly email: string;
  /** The page to open after signing in. */
  readonly next: string;
}

const PATH = '/signin';
const MAX_EMAIL = 254;

export function addSignInPages(
  forms: PublicForms,
  dependencies: SignInDependencies,
  completeSignIn: CompleteSignIn,
): void {
  const { sessionGuard, identity, signUpOpen, providerSignIn } = dependencies;
  const show = (visit: Visit, { email, next }: Typed, faults: FormFaults): FastifyReply => {
    const body = html`${providerButtons(visit, providerSignIn, next)}
${problem(faults.form)}
${form(
  visit,
  PATH,
  html`<input type="hidden" name="next" value="${isPrivatePath(next) ? next : ''}">
${emailField(email, faults)}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
<p class="actions"><button class="button" type="submit">Sign in</button></p>`,
)}
${passkeySignInForm(visit, next)}
<p class="small"><a href="/reset">Forgot password?</a></p>
${signUpOpen && html`<p class="small">New here? <a href="/signup">Sign up</a></p>`}
${signUpOpen && providerTerms(providerSignIn)}`;
    return forms.send(visit, { title: 'Sign in', path: PATH, body, faults, modules: [PASSKEY_MODULE] });
  };

  forms.page(PATH, async (visit) => {
    const member = await sessionGuard.member(visit.request, visit.reply);
    if (member !== undefined) return seeOther(member, '/dashboard');
    return show(visit, { email: '', next: queryOf(visit, 'next') ?? '' }, {});
  });
  forms.action(PATH, async (visit, fields) => {
    const typed = { email: fields.text('email'), next: fields.text('next') };
    const authenticated = await identity.signIn({
      // An invalid address is tried like any other, so that it takes the same time.
      email: parseEmail(typed.email) ?? typed.email.slice(0, MAX_EMAIL),
      password: fields.text('password'),
      address: visit.request.ip,
      deviceToken: sessionGuard.deviceToken(visit.request),
    });
    if (authenticated === undefined) return show(visit, typed, { form: 'Incorrect email or password.' });
    return await completeSignIn(visit, authenticated, isPrivatePath(typed.next) ? typed.next : '');
  });
  forms.action('/signout', async (visit) => {
    await sessionGuard.signOut(visit);
    return seeOther(visit, '/signin?done=signed-out');
  });
}
