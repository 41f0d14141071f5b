// The database goes away under a running server, and comes back.

import { afterAll, describe, expect, it } from 'vitest';
import { createStore } from '../../src/store/sql-store.ts';
import { createDatabase, createPostgres, NO_POSTGRES } from '../postgres-server.ts';
import { health, form, post, problemOf, startServer, until } from '../running-server.ts';
import { openAt } from '../store/databases.ts';

const database = await createPostgres(true);
afterAll(async () => await database?.remove());

describe.skipIf(!database)(`a server whose database is away${database ? '' : `: ${NO_POSTGRES}`}`, () => {
  it('says so, stays alive, and charges exactly what it delivered', { timeout: 180_000 }, async () => {
    const place = await createDatabase(database?.url ?? '');
    const server = await startServer({ STORYBAR_DATABASE_URL: place });
    const ask = async (): Promise<Response> => await post(server, form({ width: '64', height: '64', text: 'Hello' }));
    const first = await ask();
    expect(first.status).toBe(200);
    await first.arrayBuffer();

    await database?.stop('SIGQUIT');
    const refused = await Promise.all(Array.from({ length: 5 }, ask));
    for (const response of refused) {
      expect(response.headers.get('retry-after')).toBe('2');
      expect(await problemOf(response)).toMatchObject({ status: 503, code: 'storage_unavailable' });
    }
    expect(await health(server)).toMatchObject({ status: 'ok' });

    await database?.start();
    const again = await until(async () => {
      const response = await ask();
      await response.arrayBuffer();
      return response.status === 200 && response;
    });
    expect(again.headers.get('x-credits-charged')).toBe('1');
    const engine = await openAt(place);
    const { accounts, ledger } = createStore(engine);
    const [account] = await accounts.list();
    if (account?.subscription === undefined) throw new Error('no account');
    const { period } = account.subscription;
    const balance = await until(async () => {
      const now = await ledger.balance(account.id, period, 0);
      return now.reserved === 0 && now;
    });
    expect(balance.used).toBe(2);
    await engine.close();
    await server.stop();
  });
});
