// Decides which callers may name a `webhook_url`. Otherwise anyone could sign up with any address and have requests
// sent to other servers.

import type { UrlFault } from '../caption/asset-url.ts';
import type { Users } from '../store/people/users.ts';
import type { Caller } from '../account/caller.ts';
import type { FetchPolicy } from '../fetch/fetch-policy.ts';

type UrlPolicy = Pick<FetchPolicy, 'faultOf'>;

const UNCONFIRMED: UrlFault = {
  code: 'forbidden_address',
  detail: 'Confirm your email address to receive webhooks.',
};

/** Live keys need a confirmed address or the operator, so only renders in test mode are checked. */
export async function urlPolicyFor(
  users: Pick<Users, 'list'>,
  { accountId, mode }: Pick<Caller, 'accountId' | 'mode'>,
  policy: UrlPolicy,
  fieldNames: readonly string[],
): Promise<UrlPolicy> {
  if (!fieldNames.includes('webhook_url') || mode === 'live') return policy;
  const known = await users.list(accountId);
  // Accounts that the operator created have no users.
  if (known.length === 0 || known.some(({ unconfirmedEmail }) => unconfirmedEmail === null)) return policy;
  return { faultOf: (url, purpose) => (purpose === 'webhook' ? UNCONFIRMED : policy.faultOf(url, purpose)) };
}
