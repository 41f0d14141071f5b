// Removing a member. Keys belong to the account, but the member who created one may still know it, so the owner decides whether
// these keys are revoked as well.

import { AppError } from '../../shared/errors.ts';
import type { MemberChange } from '../../service/store/people/members.ts';
import type { KeySummary } from '../../service/store/accounts/keys.ts';
import type { Store } from '../../service/store/store.ts';
import { type User, addressOf } from '../../service/store/people/user.ts';
import { time } from '../account/fields.ts';
import { form, seeOther, sendPrivate } from '../account/frame.ts';
import { maskedKey, stateOf } from '../account/key-pages.ts';
import { idOf, type SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { table } from '../tables.ts';

export interface RemoveDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'members' | 'users' | 'keys'>;
}

export const MEMBERS_PATH = '/dashboard/members';

/** Nothing is chosen in advance: revoking can stop a program, and keeping leaves the key to a person who has left. */
const KEY_CHOICE = html`<fieldset class="choices"><legend>What happens to these keys?</legend>
<label><input type="radio" name="keys" value="revoke" required> Revoke them: programs that use them stop working immediately</label>
<label><input type="radio" name="keys" value="keep" required> Keep them: a member who has copied them can still use them</label>
</fieldset>`;

export function addRemovePage(routes: SignedInRoutes, { site, store }: RemoveDependencies): void {
  const path = `${MEMBERS_PATH}/:id/remove`;
  routes.page({ path, permission: 'own' }, async (visit) => {
    const member = await findRemovable(store, visit);
    const keys = (await store.keys.list(visit.user.accountId)).filter(
      ({ createdBy, state }) => createdBy === member.id && state !== 'revoked',
    );
    const title = `Remove ${addressOf(member)}`;
    return await sendPrivate(site, visit, { title, body: removeBody(visit, member, keys) });
  });
  routes.action({ path, permission: 'own' }, async (visit, fields) => {
    const { user } = visit;
    const { id } = await findRemovable(store, visit);
    const keys = fields.text('keys') === 'revoke' ? 'revoke' : 'keep';
    assertChanged(await store.members.remove(user.accountId, id, `user:${user.id}`, keys));
    return seeOther(visit, `${MEMBERS_PATH}?done=${keys === 'revoke' ? 'member-and-keys-removed' : 'member-removed'}`);
  });
}

export function assertChanged(change: MemberChange): void {
  if (change === 'not found') throw new AppError('not_found', "This member doesn't exist.");
  if (change === 'last owner') throw new AppError('invalid_fields', 'An account needs at least one owner.');
}

async function findRemovable({ users }: RemoveDependencies['store'], visit: SignedInVisit): Promise<User> {
  const { user } = visit;
  if (idOf(visit) === user.id) throw new AppError('invalid_fields', "You can't remove yourself.");
  const member = (await users.list(user.accountId)).find(({ id }) => id === idOf(visit));
  if (member === undefined) throw new AppError('not_found', "This member doesn't exist.");
  // Removing an operator would affect more than this account.
  if (member.role === 'operator') throw new AppError('invalid_fields', "Operators can't be removed here.");
  return member;
}

function removeBody(visit: SignedInVisit, { id }: User, keys: readonly KeySummary[]): Html {
  const content = html`${keys.length > 0 && KEY_CHOICE}
<p class="actions"><button class="button danger" type="submit">Remove member</button>
<a class="button quiet" href="${MEMBERS_PATH}">Back</a></p>`;
  return html`<p>They’re signed out everywhere and lose access to this account immediately.${keys.length === 0 && ' No key that works was created by them.'}</p>
${keys.length > 0 && keySection(keys)}
${form(visit, `${MEMBERS_PATH}/${id}/remove`, content, 'stacked')}`;
}

function keySection(keys: readonly KeySummary[]): Html {
  const rows = keys.map((key) => [key.name, maskedKey(key), stateOf(key), time(key.lastUsedAt)]);
  return html`<section aria-labelledby="keys"><h2 id="keys">Keys they created</h2>
${table('Keys they created', ['Name', 'Key', 'Status', 'Last used'], rows)}
</section>`;
}
