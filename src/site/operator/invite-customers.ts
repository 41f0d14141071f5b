// Lets operators add customers: a new account with a plan, and invitations to an account.

import { randomUUID } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { parseEmail } from '../../service/account/email.ts';
import type { PlanBook } from '../../service/account/plans.ts';
import { createSecret, hashSecret } from '../../service/account/secret.ts';
import { AppError } from '../../shared/errors.ts';
import { requestBaseUrl } from '../../service/http/transport/request-base-url.ts';
import { MAX_MEMBERS } from '../../service/store/people/members.ts';
import type { Store } from '../../service/store/store.ts';
import { addressOf } from '../../service/store/people/user.ts';
import { type Choice, field, selectField } from '../account/fields.ts';
import { form, seeOther } from '../account/frame.ts';
import { INVALID_EMAIL } from '../account/public-forms.ts';
import { idOf, type SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import { INVITATION_MS, JOIN_PATH, showInvitationLink } from '../members/member-pages.ts';
import type { Site } from '../page.ts';

export interface InviteDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'accounts' | 'members'>;
  readonly plans: PlanBook;
  readonly identity: Identity;
  /** Base URL of the site. If empty, it is taken from each request. */
  readonly publicUrl: string;
}

const PATH = '/operator/accounts';
const MAX_NAME = 80;
const TAKEN = 'This address has an account, or is that of the operator. Use another one.';

export function addInvitePages(routes: SignedInRoutes, dependencies: InviteDependencies): void {
  const { store, plans } = dependencies;
  routes.action({ path: PATH, permission: 'operate' }, async (visit, fields) => {
    const name = fields
      .text('name')
      .replaceAll(/\p{Cc}/gu, ' ')
      .trim();
    const plan = fields.text('plan');
    if (name === '' || name.length > MAX_NAME) {
      throw new AppError('invalid_fields', `Enter a name of up to ${MAX_NAME} characters.`);
    }
    if (plans.find(plan) === undefined) throw new AppError('invalid_fields', "This plan doesn't exist.");
    const id = randomUUID();
    await store.accounts.create({ id, name }, actorOf(visit), plan);
    return seeOther(visit, `${PATH}/${id}?done=account-created`);
  });
  routes.action(
    { path: `${PATH}/:id/invite`, permission: 'operate' },
    async (visit, fields) => await invite(dependencies, visit, fields.text('email')),
  );
}

/** Invites an owner. Sending the form again replaces the invitation, so a reload does no harm. */
async function invite(dependencies: InviteDependencies, visit: SignedInVisit, typed: string): Promise<FastifyReply> {
  const { site, store, identity, publicUrl } = dependencies;
  const { request } = visit;
  const account = await store.accounts.find(idOf(visit));
  if (account === undefined) throw new AppError('not_found', "This account doesn't exist.");
  const email = parseEmail(typed);
  if (email === undefined) throw new AppError('invalid_fields', INVALID_EMAIL);
  if (!(await identity.canInvite(email))) throw new AppError('invalid_fields', TAKEN);
  const secret = createSecret();
  const expiresAt = new Date(Date.now() + INVITATION_MS);
  const invitation = { accountId: account.id, email, accountRole: 'owner', expiresAt } as const;
  if (!(await store.members.invite(hashSecret(secret), invitation, actorOf(visit)))) {
    throw new AppError('invalid_fields', `An account can have up to ${MAX_MEMBERS} members.`);
  }
  const link = `${publicUrl || (requestBaseUrl(request) ?? '')}${JOIN_PATH}?link=${secret}`;
  const back = `${PATH}/${encodeURIComponent(account.id)}`;
  if (!identity.sendsEmail) return showInvitationLink(site, visit, { email, link, back });
  identity.emailInvitation(email, addressOf(visit.user), link, request.id);
  return seeOther(visit, `${back}?done=invited`);
}

/** The section of the list of accounts. */
export function newAccountSection(visit: SignedInVisit, plans: PlanBook): Html {
  const choices = plans.plans.map(({ name, title }): Choice => [name, title]);
  return html`<section aria-labelledby="new-account"><h2 id="new-account">New account</h2>
<p>For a customer who doesn’t sign up. Invite its users from its page. Nothing is charged for the plan.</p>
${form(
  visit,
  PATH,
  html`${field({ name: 'name', label: 'Name', autocomplete: 'off', maxLength: MAX_NAME })}
${selectField({ id: 'new-plan', name: 'plan', label: 'Plan', choices, chosen: undefined })}
<p class="actions"><button class="button quiet" type="submit">Create account</button></p>`,
  'stacked',
)}
</section>`;
}

/** The section of the page of an account. */
export function inviteSection(visit: SignedInVisit, accountId: string): Html {
  return html`<section class="card" aria-labelledby="invite"><h2 id="invite">Invite an owner</h2>
${form(
  visit,
  `${PATH}/${encodeURIComponent(accountId)}/invite`,
  html`${field({ name: 'email', label: 'Email', type: 'email', autocomplete: 'off' })}
<p class="actions"><button class="button quiet" type="submit">Invite</button></p>`,
  'stacked',
)}
</section>`;
}

function actorOf({ user }: SignedInVisit): string {
  return `operator:${user.id}`;
}
