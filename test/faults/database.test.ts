// The database becomes unavailable while a server runs, and comes back.

import { afterAll, describe, expect, it } from 'vitest';
import { readSettings } from '../../src/service/config/settings.ts';
import { serve } from '../../src/main/serve.ts';
import { createStore } from '../../src/service/store/store.ts';
import { createDatabase, createPostgres, NO_POSTGRES } from '../postgres-server.ts';
import { health, form, post, problemOf, startServer, until } from '../running-server.ts';
import { openAt } from '../store/databases.ts';
import { usedIn } from './credits-in.ts';

const database = await createPostgres(true);
afterAll(async () => await database?.remove());

describe.skipIf(!database)(`a server whose database is unavailable${database ? '' : `: ${NO_POSTGRES}`}`, () => {
  it('a server whose database is unavailable returns 503, stays alive and charges exactly what it delivered', async () => {
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
    expect(await usedIn(place)).toBe(2);
    await server.stop();
  });
});

describe.skipIf(!database)(`a server that fails to start on PostgreSQL${database ? '' : `: ${NO_POSTGRES}`}`, () => {
  it('names the plan that accounts have and the plans file lacks', async () => {
    const url = await createDatabase(database?.url ?? '');
    const engine = await openAt(url);
    const { accounts } = createStore(engine);
    await accounts.create({ id: 'a', name: 'Ann' }, 'cli:test');
    await accounts.subscribe('a', 'gold', 'now', 'cli:test');
    await engine.close();
    await expect(serve(readSettings({ STORYBAR_DATABASE_URL: url }))).rejects.toThrow('the plan "gold" is missing');
  });
});
