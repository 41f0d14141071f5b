// The site on two servers with one PostgreSQL database: they share sessions and the limits on attempts.

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

  it('the site on PostgreSQL shares sessions, keys and usage between servers', async () => {
    const ann = at(0);
    await ann.signUpWithPlan('ann@example.com');
    const { key } = await ann.createKey();
    const there = at(1);
    for (const [name, value] of ann.cookies) there.cookies.set(name, value);
    await (
      await post({ url: servers[1]?.url ?? '', key }, form({ width: '32', height: '32', text: 'a' }))
    ).arrayBuffer();
    await there.waitForUsage('<strong>1</strong> of 100 credits used (Free)');
    await there.submit('/dashboard', {}, '/signout');
    expect(await ann.get('/dashboard')).toMatchObject({ status: 303 });
  });

  it('the site on PostgreSQL refuses the NUL character in forms and JSON with 400, and finds nothing for it in a query', async () => {
    const visitor = at(0);
    await visitor.signUp('nul@example.com');
    const response = JSON.stringify({
      id: '\0',
      rawId: '\0',
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON: '', authenticatorData: '', signature: '' },
    });
    const responses = [
      await visitor.submit('/dashboard/security', { passkey: '\0' }, '/dashboard/security/passkeys/remove'),
      await visitor.submit('/dashboard/security', { response }, '/signin/passkey'),
    ];
    expect(responses.map(({ status, text }) => [status, text.includes('NUL character')])).toEqual(
      responses.map(() => [400, true]),
    );
    expect((await visitor.get('/dashboard/webhooks/deliveries?endpoint=%00')).status).toBe(200);
  });

  it('the site on PostgreSQL shares the limit on sign-in attempts between servers', async () => {
    const fields = { email: 'bob@example.com', password: 'a wrong password' };
    const attempts = await Promise.all(
      Array.from({ length: 11 }, async (_, index) => {
        const visitor = at(index % 2);
        return { visitor, token: await visitor.tokenOf('/signin') };
      }),
    );
    // The attempts run side by side, because in half a minute the limit already allows one more.
    const statuses = await Promise.all(
      attempts.map(async ({ visitor, token }) => (await visitor.send('/signin', { token, ...fields })).status),
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array.from({ length: 10 }, () => 422), 429]);
  });
});
