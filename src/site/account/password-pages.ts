// Links by email and their pages: signing in without the password, or choosing a new one.

import type { FastifyReply } from 'fastify';
import { parseEmail } from '../../service/account/email.ts';
import { passwordFault } from '../../service/account/password.ts';
import { AppError } from '../../shared/errors.ts';
import { type Html, html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { Visit } from '../identity/session-guard.ts';
import type { CompleteSignIn } from '../settings/code-page.ts';
import { form } from './frame.ts';
import {
  checkInbox,
  emailField,
  type FormFaults,
  INVALID_EMAIL,
  newPasswordField,
  type PublicForms,
} from './public-forms.ts';
import { queryOf } from './signed-in-routes.ts';

const RESET_PATH = '/reset';
const PASSWORD_PATH = '/password';
const SIGN_IN_PATH = '/password/signin';
export const NO_EMAIL = 'Password reset emails aren’t set up here. Contact support for a reset link.';

export function addPasswordPages(forms: PublicForms, identity: Identity, completeSignIn: CompleteSignIn): void {
  addResetPage(forms, identity);
  addNewPasswordPage(forms, identity, completeSignIn);
}

function addResetPage(forms: PublicForms, identity: Identity): void {
  const show = (visit: Visit, email: string, faults: FormFaults): FastifyReply => {
    const content = identity.sendsEmail
      ? form(
          visit,
          RESET_PATH,
          html`<p>We’ll send you a link. It signs you in, and you can choose a new password.</p>
${emailField(email, faults)}
<p class="actions"><button class="button" type="submit">Send link</button></p>`,
        )
      : html`<p>${NO_EMAIL}</p>`;
    const body = html`${content}
<p class="small"><a href="/signin">Back to sign in</a></p>`;
    const title = identity.sendsEmail ? 'Get a link by email' : 'Reset your password';
    return forms.send(visit, { title, body, faults });
  };

  forms.page(RESET_PATH, (visit) => show(visit, '', {}));
  forms.action(RESET_PATH, async (visit, fields) => {
    if (!identity.sendsEmail) throw new AppError('not_found', NO_EMAIL);
    const typed = fields.text('email');
    const email = parseEmail(typed);
    if (email === undefined) return show(visit, typed, { email: INVALID_EMAIL });
    await identity.requestLink({ email, address: visit.request.ip, requestId: visit.request.id });
    const page = checkInbox(
      html`If <strong>${email}</strong> has an account, there is an email from us. If you have several, use any of the last hour.`,
    );
    return forms.send(visit, { ...page });
  });
}

function addNewPasswordPage(forms: PublicForms, identity: Identity, completeSignIn: CompleteSignIn): void {
  const show = async (visit: Visit, link: string, faults: FormFaults): Promise<FastifyReply> => {
    const found = await identity.findLink(link);
    if (found === undefined) return showExpired(visit);
    const body = html`<p class="small">For ${found.email}</p>
${form(
  visit,
  PASSWORD_PATH,
  html`<input type="hidden" name="link" value="${link}">
<input type="hidden" name="username" value="${found.email}" autocomplete="username">
${newPasswordField('New password', faults)}
<p class="actions"><button class="button" type="submit">Save and sign in</button></p>`,
)}
${(await identity.isKnown(found)) && signInForm(visit, link)}`;
    return forms.send(visit, { title: 'Choose a password', body, faults });
  };
  const showExpired = (visit: Visit): FastifyReply => {
    const body = html`<p>It has already been used or is no longer valid.</p>
<p class="actions"><a class="button" href="${RESET_PATH}">Request a new link</a> <a class="button quiet" href="/signin">Sign in</a></p>`;
    const title = 'This link has expired';
    return forms.send(visit, { title, body, faults: { form: title } });
  };

  forms.action(SIGN_IN_PATH, async (visit, fields) => {
    const authenticated = await identity.useLinkToSignIn(fields.text('link'));
    return authenticated === undefined ? showExpired(visit) : await completeSignIn(visit, authenticated);
  });
  forms.page(PASSWORD_PATH, async (visit) => await show(visit, queryOf(visit, 'link') ?? '', {}));
  forms.action(PASSWORD_PATH, async (visit, fields) => {
    const link = fields.text('link');
    const password = fields.text('password');
    const found = await identity.findLink(link);
    if (found === undefined) return showExpired(visit);
    const fault = passwordFault(password, found.email);
    if (fault !== undefined) return await show(visit, link, { password: fault });
    const authenticated = await identity.useLink(link, password);
    if (authenticated === undefined) return showExpired(visit);
    // A link in an email replaces the password, not the second factor.
    return await completeSignIn(visit, authenticated);
  });
}

/** The form is for users who can't use their password because strangers keep guessing it, or who never chose one. */
function signInForm(visit: Visit, link: string): Html {
  const content = html`<input type="hidden" name="link" value="${link}">
<p class="small">Keep your password?</p>
<p class="actions"><button class="button quiet" type="submit">Sign in without changing it</button></p>`;
  return form(visit, SIGN_IN_PATH, content);
}
