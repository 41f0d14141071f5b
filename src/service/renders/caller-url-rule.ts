// Decides which callers may name a URL that the server sends something to: a `webhook_url` or a `put_url`. Otherwise anyone
// could sign up with any address, or use the key of a web page, and have requests sent to other servers.

import type { UrlFault } from '../../engine/caption/asset-url.ts';
import type { ReadFields } from '../../engine/caption/field-reader.ts';
import type { Keys } from '../store/accounts/keys.ts';
import type { Users } from '../store/people/users.ts';
import type { Caller } from '../account/caller.ts';
import type { FetchPolicy } from '../fetch/fetch-policy.ts';

type UrlPolicy = Pick<FetchPolicy, 'faultOf'>;
type Purpose = 'webhook' | 'put';

export interface CallerUrlRule {
  readonly users: Pick<Users, 'list'>;
  readonly keys: Pick<Keys, 'get'>;
}

const FIELDS = { webhook: 'webhook_url', put: 'put_url' } as const;

const UNCONFIRMED: Readonly<Record<Purpose, UrlFault>> = {
  webhook: { code: 'forbidden_address', detail: 'Confirm your email address to receive webhooks.' },
  put: { code: 'forbidden_address', detail: 'Confirm your email address to use put_url.' },
};

const BROWSER_KEY: UrlFault = {
  code: 'forbidden_address',
  detail: 'A key with allowed origins is for web pages and has no put_url. Use a key of your server.',
};

/** Looks up only what the URLs of the requests need. */
export async function urlPolicyFor(
  rule: CallerUrlRule,
  caller: Pick<Caller, 'accountId' | 'keyId' | 'mode'>,
  policy: UrlPolicy,
  requests: readonly Pick<ReadFields, 'values'>[],
): Promise<UrlPolicy> {
  const faults = new Map<Purpose, UrlFault>();
  for (const purpose of ['webhook', 'put'] as const) {
    if (requests.every(({ values }) => values[FIELDS[purpose]] === undefined)) continue;
    if (purpose === 'put' && (await isBrowserKey(rule, caller))) faults.set(purpose, BROWSER_KEY);
    else if (!(await isConfirmed(rule, caller))) faults.set(purpose, UNCONFIRMED[purpose]);
  }
  return {
    faultOf: (url, purpose) => {
      const fault = purpose === undefined || purpose === 'asset' ? undefined : faults.get(purpose);
      return fault ?? policy.faultOf(url, purpose);
    },
  };
}

/** Live keys need a confirmed address or the operator, so only renders in test mode are checked. */
async function isConfirmed(
  { users }: CallerUrlRule,
  { accountId, mode }: Pick<Caller, 'accountId' | 'mode'>,
): Promise<boolean> {
  if (mode === 'live') return true;
  const known = await users.list(accountId);
  // Accounts that the operator created have no users.
  return known.length === 0 || known.some(({ unconfirmedEmail }) => unconfirmedEmail === null);
}

async function isBrowserKey({ keys }: CallerUrlRule, { keyId }: Pick<Caller, 'keyId'>): Promise<boolean> {
  const key = keyId === undefined ? undefined : await keys.get(keyId);
  return key !== undefined && key.allowedOrigins.length > 0;
}
