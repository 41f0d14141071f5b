// The page to accept an invitation: the visitor chooses a password and becomes a member of the account.

import type { FastifyReply } from 'fastify';
import { passwordFault } from '../../service/account/password.ts';
import { hashSecret, isSecret } from '../../service/account/secret.ts';
import type { Invitation, Members } from '../../service/store/people/members.ts';
import type { Store } from '../../service/store/store.ts';
import { form, seeOther } from '../account/frame.ts';
import { type FormFaults, newPasswordField, type PublicForms } from '../account/public-forms.ts';
import { queryOf } from '../account/signed-in-routes.ts';
import { html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { SessionGuard, Visit } from '../identity/session-guard.ts';
import { JOIN_PATH } from './member-pages.ts';

export interface JoinDependencies {
  readonly store: Pick<Store, 'members'>;
  readonly identity: Identity;
  readonly sessionGuard: SessionGuard;
}

export function addJoinPage(forms: PublicForms, { store, identity, sessionGuard }: JoinDependencies): void {
  const show = (visit: Visit, link: string, { email }: Invitation, faults: FormFaults): FastifyReply => {
    const body = html`<p class="small">For ${email}</p>
${form(
  visit,
  JOIN_PATH,
  html`<input type="hidden" name="link" value="${link}">
<input type="hidden" name="username" value="${email}" autocomplete="username">
${newPasswordField('Choose a password', faults)}
<p class="actions"><button class="button" type="submit">Join</button></p>`,
)}
<p class="small">By joining, you agree to the <a href="/terms">terms</a> and the <a href="/privacy">privacy policy</a>.</p>`;
    return forms.send(visit, { title: 'Join a Storybar account', body, faults });
  };

  forms.page(JOIN_PATH, async (visit) => {
    const link = queryOf(visit, 'link') ?? '';
    const found = await find(store.members, link);
    return found === undefined ? showExpired(forms, visit) : show(visit, link, found, {});
  });
  forms.action(JOIN_PATH, async (visit, fields) => {
    const link = fields.text('link');
    const found = await find(store.members, link);
    if (found === undefined) return showExpired(forms, visit);
    const password = fields.text('password');
    const fault = passwordFault(password, found.email);
    if (fault !== undefined) return show(visit, link, found, { password: fault });
    const authenticated = await identity.acceptInvitation(link, password, store.members);
    if (authenticated === undefined) return showExpired(forms, visit);
    await sessionGuard.signIn(visit, authenticated);
    return seeOther(visit, '/dashboard');
  });
}

async function find(members: Members, link: string): Promise<Invitation | undefined> {
  return isSecret(link) ? await members.findInvitation(hashSecret(link)) : undefined;
}

function showExpired(forms: PublicForms, visit: Visit): FastifyReply {
  const body = html`<p>It has already been used or is no longer valid. Ask for a new invitation.</p>
<p class="actions"><a class="button" href="/signin">Sign in</a></p>`;
  const title = 'This invitation has expired';
  return forms.send(visit, { title, body, faults: { form: title } });
}
