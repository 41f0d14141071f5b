// The sign-up page. It grants the free plan, creates a first test key and leads to the page of the first request. The account
// has test keys only until its address is confirmed or, without email, the operator approves it.

import type { FastifyReply } from 'fastify';
import { parseEmail } from '../../service/account/email.ts';
import { passwordFault } from '../../service/account/password.ts';
import type { PlanBook } from '../../service/account/plans.ts';
import type { Billing } from '../../service/billing/billing.ts';
import { AppError } from '../../shared/errors.ts';
import type { Store } from '../../service/store/store.ts';
import { type Html, html } from '../html.ts';
import type { AuthenticatedUser, Identity } from '../identity/identity.ts';
import type { SessionGuard, Visit } from '../identity/session-guard.ts';
import { providerButtons } from '../providers/provider-buttons.ts';
import type { ProviderSignIn } from '../providers/provider-sign-in.ts';
import { count, problem } from './fields.ts';
import { form, seeOther } from './frame.ts';
import { KeyChanges } from './key-changes.ts';
import { emailField, type FormFaults, INVALID_EMAIL, newPasswordField, type PublicForms } from './public-forms.ts';
import { homeOf } from './signed-in-routes.ts';
import { START_PATH } from './start-page.ts';

export interface SignUpDependencies {
  readonly sessionGuard: SessionGuard;
  readonly identity: Identity;
  readonly store: Pick<Store, 'keys' | 'accounts'>;
  readonly plans: PlanBook;
  readonly billing: Billing;
  readonly providerSignIn: ProviderSignIn;
  /** If false, new users need a link from the operator. */
  readonly signUpOpen: boolean;
}

const PATH = '/signup';
const TITLE = 'Get an API key';
const CLOSED = 'Sign-up is closed. Ask the operator for an invitation.';
const FIRST_KEY_NAME = 'First test key';

export function addSignUpPages(forms: PublicForms, dependencies: SignUpDependencies): void {
  const { sessionGuard, identity, signUpOpen, providerSignIn } = dependencies;
  const show = (visit: Visit, email: string, faults: FormFaults): FastifyReply => {
    const body = html`${freeCredits(dependencies.plans)}${providerButtons(visit, providerSignIn, '')}
${problem(faults.form)}
${form(
  visit,
  PATH,
  html`${emailField(email, faults)}
${newPasswordField('Password', faults)}
<p class="actions"><button class="button" type="submit">Create account</button></p>`,
)}
<p class="small">By creating an account, you agree to the <a href="/terms">terms</a> and the <a href="/privacy">privacy policy</a>.</p>
<p class="small">Already have an account? <a href="/signin">Sign in</a></p>`;
    return forms.send(visit, { title: TITLE, body, faults });
  };

  forms.page(PATH, async (visit) => {
    const member = await sessionGuard.member(visit.request, visit.reply);
    if (member !== undefined) return seeOther(member, homeOf(member.user));
    if (signUpOpen) return show(visit, '', {});
    return forms.send(visit, { title: TITLE, body: html`<p>${CLOSED}</p>` });
  });
  forms.action(PATH, async (visit, fields) => {
    if (!signUpOpen) throw new AppError('not_found', CLOSED);
    const typed = fields.text('email');
    const email = parseEmail(typed);
    const password = fields.text('password');
    const faults: FormFaults = {
      email: email === undefined ? INVALID_EMAIL : undefined,
      password: passwordFault(password, email),
    };
    if (email === undefined || faults.password !== undefined) return show(visit, typed, faults);
    const { ip: address, id: requestId } = visit.request;
    const authenticated = identity.sendsEmail
      ? await identity.signUpUnconfirmed({ email, address, requestId }, password)
      : await identity.signUp(email, password, address);
    if (authenticated === undefined) {
      const fault = 'You can’t sign up with this email. If it’s yours, sign in instead.';
      return show(visit, typed, { form: fault });
    }
    return await beginAccount(dependencies, visit, authenticated);
  });
}

/** Says what an account costs, which is nothing where the lowest plan is free. */
function freeCredits({ lowest }: PlanBook): Html | undefined {
  if (lowest.monthlyPriceCents > 0) return undefined;
  return html`<p><strong>${count(lowest.credits)} free credits every month.</strong> No card. Test renders cost no credits.</p>`;
}

/** Sets up the account of a new user. Without a free plan, they choose one first. */
export async function beginAccount(
  { sessionGuard, store, plans, billing }: SignUpDependencies,
  visit: Visit,
  authenticated: AuthenticatedUser,
): Promise<FastifyReply> {
  const { user } = authenticated;
  const session = await sessionGuard.signIn(visit, authenticated);
  if (plans.lowest.monthlyPriceCents > 0) return seeOther(visit, '/dashboard/plan');
  const pages = { successUrl: '', cancelUrl: '' };
  await billing.choosePlan(user.accountId, plans.lowest.name, pages);
  const newKey = await new KeyChanges(store).create(user, 'test', FIRST_KEY_NAME, []);
  sessionGuard.keepNewKey(visit, newKey, session);
  return seeOther(visit, START_PATH);
}
