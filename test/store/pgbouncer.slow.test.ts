// The store through PgBouncer in transaction mode, where consecutive statements of a process may run on different
// connections and connections are shared with other processes.

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createStore } from '../../src/service/store/store.ts';
import { createDatabase, NO_POSTGRES } from '../postgres-server.ts';
import { hasPgBouncer, NO_PGBOUNCER, type RunningPgBouncer, startPgBouncer } from '../running-pgbouncer.ts';
import { form, post, startServer } from '../running-server.ts';
import { storeContract } from './contract.ts';
import { databaseAt, emptyDatabase, migratedDatabase, openAt } from './databases.ts';

const url = inject('postgresUrl');
const reason = url === '' ? `: ${NO_POSTGRES}` : hasPgBouncer ? '' : `: ${NO_PGBOUNCER}`;

describe.skipIf(reason !== '')(`the store through PgBouncer in transaction mode${reason}`, () => {
  let bouncer: RunningPgBouncer;
  let place: string;
  beforeAll(async () => {
    place = await migratedDatabase(url);
    bouncer = await startPgBouncer(url);
  });
  afterAll(async () => {
    await bouncer.stop();
  });

  storeContract(async () => {
    await emptyDatabase(place);
    return databaseAt(bouncer.urlOf(place));
  });

  it('the store leaves no session settings behind on shared connections', async () => {
    const shared = bouncer.urlOf(await createDatabase(url));
    const engine = await openAt(shared);
    await createStore(engine).accounts.create({ id: 'a', name: 'A' }, 'cli:test');
    const other = new pg.Client({ connectionString: shared });
    await other.connect();
    for (let time = 0; time < 4; time += 1) {
      const { rows } = await other.query<{ statement_timeout: string }>('show statement_timeout');
      expect(rows[0]?.statement_timeout).toBe('0');
    }
    await other.end();
    await engine.close();
  });

  it('the store limits the time of statements and of idling inside transactions', async () => {
    const engine = await openAt(bouncer.urlOf(await createDatabase(url)));
    const limits = await engine.transaction(async (session) => [
      ...(await session.all('show statement_timeout')),
      ...(await session.all('show idle_in_transaction_session_timeout')),
    ]);
    expect(limits).toEqual([{ statement_timeout: '10s' }, { idle_in_transaction_session_timeout: '15s' }]);
    await engine.close();
  });

  it('the store serves renders of several API servers that share two connections', async () => {
    const database = { STORYBAR_DATABASE_URL: bouncer.urlOf(await createDatabase(url)), STORYBAR_DATABASE_POOL: '5' };
    const first = await startServer(database);
    const second = await startServer(database);
    const responses = await Promise.all(
      [first, second, first, second, first, second].map(async ({ url: serverUrl }) => {
        const response = await post({ url: serverUrl, key: first.key }, form({ text: 'a', width: '64', height: '64' }));
        await response.arrayBuffer();
        return response.status;
      }),
    );
    expect(responses).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await first.cli('db', 'check')).toContain('All totals match.');
    await first.stop();
    await second.stop();
  });
});
