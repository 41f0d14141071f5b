// The sign-up page. With email, the password is chosen later, on the page behind the link in the email.

import type { FastifyReply } from 'fastify';
import { parseEmail } from '../../account/email.ts';
import { passwordFault } from '../../account/password.ts';
import { AppError } from '../../errors.ts';
import { html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { SessionGuard, Visit } from '../identity/session-guard.ts';
import { problem } from './fields.ts';
import { form, seeOther } from './frame.ts';
import {
  checkInbox,
  emailField,
  type FormFaults,
  INVALID_EMAIL,
  newPasswordField,
  type PublicForms,
} from './public-forms.ts';

export interface SignUpDependencies {
  readonly sessionGuard: SessionGuard;
  readonly identity: Identity;
  /** False: new users need a link from the operator. */
  readonly signUpOpen: boolean;
}

const PATH = '/signup';
const TITLE = 'Sign up';
const CLOSED = 'Sign-up is closed. Ask the operator for an invitation.';

export function addSignUpPages(forms: PublicForms, dependencies: SignUpDependencies): void {
  const { sessionGuard, identity, signUpOpen } = dependencies;
  const show = (visit: Visit, email: string, faults: FormFaults): FastifyReply => {
    const body = html`${problem(faults.form)}
${form(
  visit,
  PATH,
  html`${emailField(email, faults)}
${identity.sendsEmail ? html`<p class="small">We’ll email you a link to choose a password.</p>` : newPasswordField('Password', faults)}
<p class="actions"><button class="button" type="submit">Sign up</button></p>`,
)}
<p class="small">Already have an account? <a href="/signin">Sign in</a></p>`;
    return forms.send(visit, { title: TITLE, path: PATH, body, faults });
  };

  forms.page(PATH, (visit) =>
    signUpOpen ? show(visit, '', {}) : forms.send(visit, { title: TITLE, path: PATH, body: html`<p>${CLOSED}</p>` }),
  );
  forms.action(PATH, async (visit, fields) => {
    if (!signUpOpen) throw new AppError('not_found', CLOSED);
    const typed = fields.text('email');
    const email = parseEmail(typed);
    const password = fields.text('password');
    const faults: FormFaults = {
      email: email === undefined ? INVALID_EMAIL : undefined,
      password: identity.sendsEmail ? undefined : passwordFault(password, email),
    };
    if (email === undefined || faults.password !== undefined) return show(visit, typed, faults);
    const { ip: address, id: requestId } = visit.request;
    if (identity.sendsEmail) {
      await identity.requestSignUp({ email, address, requestId });
      const page = checkInbox(html`If <strong>${email}</strong> can sign up, we’ve sent an email.`);
      return forms.send(visit, { ...page, path: PATH });
    }
    const authenticated = await identity.signUp(email, password, address);
    if (authenticated === undefined) {
      const fault = 'You can’t sign up with this email. If it’s yours, sign in instead.';
      return show(visit, typed, { form: fault });
    }
    await sessionGuard.signIn(visit, authenticated);
    return seeOther(visit, '/dashboard/plan');
  });
}
