// The members of an account: a list with roles, invitations, and removing a member.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseEmail } from '../../service/account/email.ts';
import { ACCOUNT_ROLES, type AccountRole } from '../../service/account/roles.ts';
import { createSecret, hashSecret } from '../../service/account/secret.ts';
import { AppError } from '../../shared/errors.ts';
import { requestBaseUrl } from '../../service/http/transport/request-base-url.ts';
import { MAX_MEMBERS, type OpenInvitation } from '../../service/store/people/members.ts';
import type { Store } from '../../service/store/store.ts';
import { type User, addressOf } from '../../service/store/people/user.ts';
import { field, time } from '../account/fields.ts';
import { form, seeOther, sendPrivate } from '../account/frame.ts';
import { INVALID_EMAIL } from '../account/public-forms.ts';
import { idOf, type SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { entryList } from '../tables.ts';
import { addRemovePage, assertChanged, MEMBERS_PATH } from './remove-page.ts';

export interface MemberDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'members' | 'users' | 'keys'>;
  readonly identity: Identity;
  /** Base URL of the site. If empty, it is taken from each request. */
  readonly publicUrl: string;
}

export const JOIN_PATH = '/join';
const PATH = MEMBERS_PATH;
/** How long an invitation is valid. */
export const INVITATION_MS = 7 * 24 * 3_600_000;
const TAKEN = 'This address can’t be invited. Use another one.';
const CONFIRM_FIRST = 'Confirm your email address before you invite others.';

const ROLE_LABELS: Readonly<Record<AccountRole, string>> = {
  owner: 'Owner: everything',
  member: 'Member: keys, usage and requests',
  billing: 'Billing: plan, invoices and usage',
};

export function addMemberPages(routes: SignedInRoutes, dependencies: MemberDependencies): void {
  const { store, identity } = dependencies;
  const show = async (visit: SignedInVisit, typed = '', fault?: string): Promise<FastifyReply> =>
    await memberPage(dependencies, visit, typed, fault);

  routes.page({ path: PATH, permission: 'own', tab: 'Members' }, async (visit) => await show(visit));
  routes.action({ path: PATH, permission: 'own' }, async (visit, fields) => {
    const { user, request } = visit;
    if (user.unconfirmedEmail !== null) throw new AppError('invalid_fields', CONFIRM_FIRST);
    const typed = fields.text('email');
    const email = parseEmail(typed);
    if (email === undefined) return await show(visit, typed, INVALID_EMAIL);
    const accountRole = roleOf(fields.text('role'));
    await identity.throttle('invite', user, request.ip);
    // Without email the inviter gets the link, so it can't be kept secret that an address is taken.
    if (!identity.sendsEmail && !(await identity.canInvite(email))) return await show(visit, typed, TAKEN);
    const secret = createSecret();
    const invitation = {
      accountId: user.accountId,
      email,
      accountRole,
      expiresAt: new Date(Date.now() + INVITATION_MS),
    };
    if (!(await store.members.invite(hashSecret(secret), invitation, `user:${user.id}`))) {
      return await show(visit, typed, `An account can have up to ${MAX_MEMBERS} members.`);
    }
    const link = `${baseUrl(dependencies, request)}${JOIN_PATH}?link=${secret}`;
    if (!identity.sendsEmail) return showInvitationLink(dependencies.site, visit, { email, link, back: PATH });
    identity.emailInvitation(email, addressOf(user), link, request.id);
    return seeOther(visit, `${PATH}?done=invited`);
  });
  routes.action({ path: `${PATH}/revoke`, permission: 'own' }, async (visit, fields) => {
    const id = fields.text('invitation');
    const { accountId } = visit.user;
    const found = (await store.members.invitations(accountId)).find(({ hash }) => publicId(hash) === id);
    if (found === undefined) throw new AppError('not_found', 'This invitation has been used or has expired.');
    await store.members.revoke(accountId, found.hash, `user:${visit.user.id}`);
    return seeOther(visit, `${PATH}?done=invitation-revoked`);
  });
  routes.action({ path: `${PATH}/:id/role`, permission: 'own' }, async (visit, fields) => {
    const { user } = visit;
    assertChanged(
      await store.members.setRole(user.accountId, idOf(visit), roleOf(fields.text('role')), `user:${user.id}`),
    );
    return seeOther(visit, idOf(visit) === user.id ? '/dashboard/security' : `${PATH}?done=role-changed`);
  });
  addRemovePage(routes, dependencies);
}

function roleOf(text: string): AccountRole {
  const role = ACCOUNT_ROLES.find((each) => each === text);
  if (role === undefined) throw new AppError('invalid_fields', 'Choose a role.');
  return role;
}

function baseUrl({ publicUrl }: MemberDependencies, request: FastifyRequest): string {
  return publicUrl || (requestBaseUrl(request) ?? '');
}

async function memberPage(
  { site, store }: MemberDependencies,
  visit: SignedInVisit,
  typed: string,
  fault: string | undefined,
): Promise<FastifyReply> {
  const { accountId } = visit.user;
  const users = await store.users.list(accountId);
  const invitations = await store.members.invitations(accountId);
  const body = html`${entryList(
    'Members',
    [
      { label: 'Email', place: 'lead', isName: true },
      { label: 'Since', place: 'below' },
      { label: 'Role', place: 'end' },
      { label: '', place: 'below-end' },
    ],
    users.map((user) => ({ cells: memberRow(visit, user) })),
  )}
${invitations.length > 0 && invitationSection(visit, invitations)}
${inviteSection(visit, typed, fault)}`;
  const status = fault === undefined ? 200 : 422;
  return await sendPrivate(site, visit, { title: 'Members', body, status });
}

function memberRow(visit: SignedInVisit, user: User): (Html | string)[] {
  const { id, accountRole, createdAt } = user;
  const address = addressOf(user);
  const isSelf = id === visit.user.id;
  const change = html`<label class="visually-hidden" for="role-${id}">Role of ${address}</label>
<select id="role-${id}" name="role">${options(accountRole)}</select>
<button class="button quiet" type="submit" aria-label="Save the role of ${address}">Save</button>`;
  const remove = html`<a href="${PATH}/${id}/remove" aria-label="Remove ${address}">Remove</a>`;
  return [
    isSelf ? html`${address} <span class="state good">you</span>` : address,
    time(createdAt),
    isSelf ? roleName(accountRole) : form(visit, `${PATH}/${id}/role`, change, 'inline'),
    isSelf ? '' : remove,
  ];
}

function roleName(role: AccountRole): string {
  return ROLE_LABELS[role].split(':', 1)[0] ?? role;
}

function options(selected?: AccountRole): Html[] {
  return ACCOUNT_ROLES.map(
    (role) => html`<option value="${role}"${role === selected && html` selected`}>${roleName(role)}</option>`,
  );
}

function invitationSection(visit: SignedInVisit, invitations: readonly OpenInvitation[]): Html {
  return html`<section aria-labelledby="invitations"><h2 id="invitations">Open invitations</h2>
${entryList(
  'Open invitations',
  [
    { label: 'Email', place: 'lead', isName: true },
    { label: 'Role', place: 'below' },
    { label: 'Expires' },
    { label: '', place: 'end' },
  ],
  invitations.map(({ hash, email, accountRole, expiresAt }) => ({
    cells: [
      email,
      accountRole,
      time(expiresAt.toISOString()),
      form(
        visit,
        `${PATH}/revoke`,
        html`<input type="hidden" name="invitation" value="${publicId(hash)}">
<button class="link" type="submit" aria-label="Revoke the invitation of ${email}">Revoke</button>`,
      ),
    ],
  })),
)}
</section>`;
}

function inviteSection(visit: SignedInVisit, typed: string, fault: string | undefined): Html {
  const heading = html`<h2 id="invite">Invite someone</h2>`;
  if (visit.user.unconfirmedEmail !== null) {
    return html`<section aria-labelledby="invite">${heading}<p>${CONFIRM_FIRST}</p></section>`;
  }
  return html`<section aria-labelledby="invite">${heading}
${form(
  visit,
  PATH,
  html`${field({ name: 'email', label: 'Email', type: 'email', value: typed, autocomplete: 'off', fault })}
<fieldset class="choices"><legend>Role</legend>
${ACCOUNT_ROLES.toReversed().map(
  (role) =>
    html`<label><input type="radio" name="role" value="${role}"${role === 'member' && html` checked`}> ${ROLE_LABELS[role]}</label>`,
)}
</fieldset>
<p class="actions"><button class="button" type="submit">Send invitation</button></p>`,
  'stacked',
)}
</section>`;
}

interface ShownInvitation {
  readonly email: string;
  readonly link: string;
  /** The path of the page to go back to. */
  readonly back: string;
}

/** Without email, the inviter sends the link. */
export async function showInvitationLink(
  site: Site,
  visit: SignedInVisit,
  { email, link, back }: ShownInvitation,
): Promise<FastifyReply> {
  const body = html`<p>Send this link to <strong>${email}</strong>. It works once and expires in a week.</p>
<div class="code new-key"><pre tabindex="0" role="group" aria-label="Invitation link"><code>${link}</code></pre><button class="copy" type="button" data-copy hidden>Copy</button></div>
<p class="actions"><a class="button" href="${back}">Done</a></p>`;
  return await sendPrivate(site, visit, { title: 'Invitation', body });
}

/** Returns the name of an invitation in a form. The hash in the store stays on the server. */
function publicId(hash: string): string {
  return hashSecret(hash).slice(0, 32);
}
