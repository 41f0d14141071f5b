// The sign-in page, and signing out.

import type { FastifyReply } from 'fastify';
import { parseEmail } from '../../service/account/email.ts';
import { AppError } from '../../shared/errors.ts';
import { type Html, html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { SessionGuard, Visit } from '../identity/session-guard.ts';
import { providerButtons, providerTerms } from '../providers/provider-buttons.ts';
import type { ProviderSignIn } from '../providers/provider-sign-in.ts';
import type { CompleteSignIn } from '../settings/code-page.ts';
import { PASSKEY_MODULE, passkeySignInForm } from '../settings/passkey-pages.ts';
import { field, problem } from './fields.ts';
import { form, seeOther } from './frame.ts';
import { emailField, type FormFaults, type PublicForms } from './public-forms.ts';
import { homeOf, isPrivatePath, queryOf } from './signed-in-routes.ts';

export interface SignInDependencies {
  readonly sessionGuard: SessionGuard;
  readonly identity: Identity;
  readonly providerSignIn: ProviderSignIn;
  /** If false, new users need a link from the operator. */
  readonly signUpOpen: boolean;
}

interface Typed {
  readonly email: string;
  /** The page to open after signing in. */
  readonly next: string;
}

const PATH = '/signin';
const MAX_EMAIL = 254;
const TRY_LINK =
  'Too many attempts to sign in with a password. Get a link by email or use a passkey to sign in now, or try again in 15 minutes.';
const TRY_PASSKEY =
  'Too many attempts to sign in with a password. Use a passkey to sign in now, or try again in 15 minutes.';

export function addSignInPages(
  forms: PublicForms,
  dependencies: SignInDependencies,
  completeSignIn: CompleteSignIn,
): void {
  const { sessionGuard, identity, signUpOpen, providerSignIn } = dependencies;
  const show = (visit: Visit, { email, next }: Typed, faults: FormFaults, status?: number): FastifyReply => {
    const body = html`${providerButtons(visit, providerSignIn, next)}
${problem(faults.form)}
${status === 429 && identity.sendsEmail && linkForm(visit, email)}
${form(
  visit,
  PATH,
  html`<input type="hidden" name="next" value="${isPrivatePath(next) ? next : ''}">
${emailField(email, faults)}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
<p class="actions"><button class="button" type="submit">Sign in</button></p>`,
)}
${passkeySignInForm(visit, next)}
<p class="small">${identity.sendsEmail ? html`Forgot your password? <a href="/reset">Get a link by email</a>` : html`<a href="/reset">Forgot your password?</a>`}</p>
${signUpOpen && html`<p class="small">New here? <a href="/signup">Sign up</a></p>`}
${signUpOpen && providerTerms(providerSignIn)}`;
    const page = { title: 'Sign in', body, faults, modules: [PASSKEY_MODULE] };
    return forms.send(visit, { ...page, ...(status !== undefined && { status }) });
  };

  forms.page(PATH, async (visit) => {
    const member = await sessionGuard.member(visit.request, visit.reply);
    if (member !== undefined) return seeOther(member, homeOf(member.user));
    return show(visit, { email: '', next: queryOf(visit, 'next') ?? '' }, {});
  });
  forms.action(PATH, async (visit, fields) => {
    const typed = { email: fields.text('email'), next: fields.text('next') };
    const attempt = {
      // An invalid address is checked like any other, so that it takes the same time.
      email: parseEmail(typed.email) ?? typed.email.slice(0, MAX_EMAIL),
      password: fields.text('password'),
      address: visit.request.ip,
      deviceToken: sessionGuard.deviceToken(visit.request),
    };
    const authenticated = await identity.signIn(attempt).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'rate_limited') return error;
      throw error;
    });
    // Strangers may have used up the attempts. The page offers other ways to sign in, which they can't use up.
    if (authenticated instanceof AppError) {
      visit.reply.header('retry-after', String(authenticated.retryAfterSeconds));
      return show(visit, typed, { form: identity.sendsEmail ? TRY_LINK : TRY_PASSKEY }, 429);
    }
    if (authenticated === undefined) return show(visit, typed, { form: 'Incorrect email or password.' });
    return await completeSignIn(visit, authenticated, isPrivatePath(typed.next) ? typed.next : '');
  });
  forms.action('/signout', async (visit) => {
    await sessionGuard.signOut(visit);
    return seeOther(visit, '/signin?done=signed-out');
  });
}

/** Sends a link to the address that was just typed. */
function linkForm(visit: Visit, email: string): Html {
  const content = html`<input type="hidden" name="email" value="${email}">
<p class="actions"><button class="button" type="submit">Email me a link</button></p>`;
  return form(visit, '/reset', content);
}
