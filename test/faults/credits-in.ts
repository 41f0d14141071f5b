// Credits of the only account in a database, read beside the server.

import { createStore } from '../../src/service/store/store.ts';
import { until } from '../running-server.ts';
import { openAt } from '../store/databases.ts';

/** The credits used by the only account, once none are held. */
export async function usedIn(place: string): Promise<number> {
  return await withBalance(place, async (balance) => {
    const settled = await until(async () => {
      const now = await balance();
      return now.reserved === 0 && now;
    });
    return settled.used;
  });
}

export async function heldIn(place: string): Promise<number> {
  return await withBalance(place, async (balance) => (await balance()).reserved);
}

async function withBalance(
  place: string,
  read: (balance: () => Promise<{ readonly used: number; readonly reserved: number }>) => Promise<number>,
): Promise<number> {
  const engine = await openAt(place);
  try {
    const { accounts, ledger } = createStore(engine);
    const [account] = await accounts.list();
    if (account?.subscription === undefined) throw new Error('there is no account with a subscription');
    const { id, subscription } = account;
    return await read(async () => await ledger.balance(id, subscription.period, 0));
  } finally {
    await engine.close();
  }
}
