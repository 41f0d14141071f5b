// The site of two servers on one PostgreSQL: who signs in at one is known at the other, and tries are counted together.

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createDatabase, NO_POSTGRES } from '../postgres-server.ts';
import { form, post, type RunningServer, startServer } from '../running-server.ts';
import { Visitor } from './visitor.ts';

const url = inject('postgresUrl');

describe.skipIf(url === '')(`the site on PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, () => {
  let servers: RunningServer[] = [];
  beforeAll(async () => {
    const environment = { STORYBAR_WORKERS: '1', STORYBAR_DATABASE_URL: await createDatabase(url) };
    servers = [await startServer(environment), await startServer(environment)];
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
  });
  const at = (index: number): Visitor => new Visitor(servers[index]?.url ?? '');

  it('serves people at either server', async () => {
    const ann = at(0);
    await ann.settle('ann@example.com');
    const { key } = await ann.makeKey();
    const there = at(1);
    for (const [name, value] of ann.cookies) there.cookies.set(name, value);
    await (
      await post({ url: servers[1]?.url ?? '', key }, form({ width: '32', height: '32', text: 'a' }))
    ).arrayBuffer();
    expect((await there.get('/dashboard')).text).toContain('<strong>1,999</strong> of 2,000 left on Starter');
    await there.submit('/dashboard', {}, '/signout');
    expect(await ann.get('/dashboard')).toMatchObject({ status: 303 });
  });

  it('counts tries together', async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 11; index += 1) {
      statuses.push((await at(index % 2).signIn('bob@example.com', 'a wrong password')).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 422), 429]);
  });
});
