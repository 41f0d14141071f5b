// What pays for renders without a key: the account of a signed-in visitor in the playground, or a marketplace, whose accounts have
// no users.

import type { AccountSummary } from '../../service/store/accounts/accounts.ts';

export const PLAYGROUND_LABEL = 'Playground (signed in)';
export const MARKETPLACE_LABEL = 'Marketplace';

export function keylessLabel({ subscription }: Pick<AccountSummary, 'subscription'>): string {
  return subscription?.provider === 'marketplace' ? MARKETPLACE_LABEL : PLAYGROUND_LABEL;
}
