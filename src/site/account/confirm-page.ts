// Confirms an email address: the link in the email leads here. The address is confirmed by a button, because mail
// scanners open links, too. The link alone isn't enough, because a stranger can sign up with any address: the visitor
// also needs a session or the password of the user who signed up.

import type { FastifyReply } from 'fastify';
import type { Confirmation, User } from '../../service/store/people/user.ts';
import { type Html, html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { SessionGuard, Visit } from '../identity/session-guard.ts';
import type { CompleteSignIn } from '../settings/code-page.ts';
import { field } from './fields.ts';
import { form, seeOther } from './frame.ts';
import type { FormFaults, PublicForms } from './public-forms.ts';
import { queryOf, type SignedInRoutes } from './signed-in-routes.ts';

export interface ConfirmDependencies {
  readonly sessionGuard: SessionGuard;
  readonly identity: Identity;
  /** If false, new users need a link from the operator. */
  readonly signUpOpen: boolean;
}

/** A user whose address is confirmed, and the page to continue with. */
interface Confirmed {
  readonly user: User;
  readonly path: string;
}

const PATH = '/confirm';
const CHANGED_PATH = '/dashboard/security?done=email-changed';
const DONE_PATH = '/dashboard/keys?done=confirmed';
const PASSWORD_NEEDED = 'Enter the password you chose when you signed up.';

export function addConfirmPage(
  forms: PublicForms,
  routes: SignedInRoutes,
  dependencies: ConfirmDependencies,
  completeSignIn: CompleteSignIn,
): void {
  const { sessionGuard, identity, signUpOpen } = dependencies;
  /** Confirms a first address or a new one, and notifies the owner of the old one. */
  const confirm = async ({ request }: Visit, link: string, userId: string): Promise<Confirmed | undefined> => {
    const before = await identity.findUser(userId);
    const user = await identity.confirm(link, userId);
    if (user === undefined || before === undefined) return undefined;
    if (before.email === null) return { user, path: DONE_PATH };
    identity.reportEmailChange(before.email, request.id);
    return { user, path: CHANGED_PATH };
  };
  const signedUp = async ({ request, reply }: Visit, { userId }: Confirmation): Promise<boolean> =>
    (await sessionGuard.member(request, reply))?.user.id === userId;
  const showPasswordForm = (visit: Visit, link: string, { email }: Confirmation, faults: FormFaults): FastifyReply => {
    const body = html`${confirmForm(visit, link, email, passwordFields(email, faults))}${strangerNote(signUpOpen)}`;
    return forms.send(visit, { title: 'Confirm your email', body, faults });
  };

  forms.page(PATH, async (visit) => {
    const link = queryOf(visit, 'link') ?? '';
    const found = await identity.findConfirmation(link);
    if (found === undefined) return showExpired(forms, visit);
    if (!(await signedUp(visit, found))) return showPasswordForm(visit, link, found, {});
    const body = confirmForm(visit, link, found.email);
    return forms.send(visit, { title: 'Confirm your email', body });
  });
  forms.action(PATH, async (visit, fields) => {
    const link = fields.text('link');
    const found = await identity.findConfirmation(link);
    if (found === undefined) return showExpired(forms, visit);
    if (await signedUp(visit, found)) {
      const confirmed = await confirm(visit, link, found.userId);
      return confirmed === undefined ? showExpired(forms, visit) : seeOther(visit, confirmed.path);
    }
    const password = fields.text('password');
    if (password === '') return showPasswordForm(visit, link, found, { password: PASSWORD_NEEDED });
    const deviceToken = sessionGuard.deviceToken(visit.request);
    const attempt = { password, address: visit.request.ip, deviceToken };
    const authenticated = await identity.signInToConfirm(found, attempt);
    if (authenticated === undefined) return showPasswordForm(visit, link, found, { password: 'Incorrect password.' });
    const confirmed = await confirm(visit, link, authenticated.user.id);
    if (confirmed === undefined) return showExpired(forms, visit);
    // This comes last, because a confirmation that makes the user an operator ends their sessions.
    return await completeSignIn(visit, { ...authenticated, user: confirmed.user }, confirmed.path);
  });
  routes.action({ path: '/dashboard/confirmation', permission: 'self' }, async (visit) => {
    if (visit.user.unconfirmedEmail !== null) {
      await identity.requestConfirmation(visit.user, visit.request.ip, visit.request.id);
    }
    return seeOther(visit, '/dashboard/keys?done=confirmation-sent');
  });
}

function showExpired(forms: PublicForms, visit: Visit): FastifyReply {
  const body = html`<p>It has already been used or is no longer valid.</p>
<p class="actions"><a class="button" href="/signin">Sign in</a></p>`;
  const title = 'This link has expired';
  return forms.send(visit, { title, body, faults: { form: title } });
}

function confirmForm(visit: Visit, link: string, email: string, fields?: Html): Html {
  const content = html`<input type="hidden" name="link" value="${link}">
${fields}
<p class="actions"><button class="button" type="submit">Confirm email</button></p>`;
  return html`<p>Confirm that <strong>${email}</strong> is your address.</p>${form(visit, PATH, content)}`;
}

function passwordFields(email: string, { password: fault }: FormFaults): Html {
  const help = fault === PASSWORD_NEEDED ? { fault } : { fault, hint: PASSWORD_NEEDED };
  return html`<input type="hidden" name="username" value="${email}" autocomplete="username">
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', ...help })}`;
}

function strangerNote(signUpOpen: boolean): Html {
  return html`<p class="small">Didn’t sign up? Ignore the email. Without the password, the address stays unconfirmed.</p>
<p class="small">${signUpOpen && html`To use this address yourself, or to replace a forgotten password, <a href="/signup">sign up</a>. `}If you already have an account, you can <a href="/reset">reset your password</a>.</p>`;
}
