// Requests as the gateway of an API marketplace sends them.

import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fontForm, BANGERS } from '../font-samples.ts';
import { plansFile } from '../plans-file.ts';
import { form, post, problemOf, type RunningServer, startServer } from '../running-server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({
    STORYBAR_MARKETPLACE_SECRETS: 'new-secret, old-secret',
    STORYBAR_PLANS: plansFile({ small: { credits: 2 }, large: { credits: 100 } }, { basic: 'small', ULTRA: 'large' }),
  });
});
afterAll(async () => {
  await server.stop();
});

const OVERLAY = { text: 'Hello', width: '64', height: '64' };

async function viaGateway(user: string, subscription: string, changes: Record<string, string> = {}): Promise<Response> {
  const headers = {
    'x-rapidapi-proxy-secret': 'new-secret',
    'x-rapidapi-user': user,
    'x-rapidapi-subscription': subscription,
    ...changes,
  };
  return await fetch(`${server.url}/v1/overlay`, { method: 'POST', body: form(OVERLAY), headers });
}

const billing = (response: Response): string | null => response.headers.get('x-rapidapi-billing');

describe('a marketplace caller', () => {
  it('a marketplace caller gets an account with the first request and is billed through the response header', async () => {
    const response = await viaGateway('ann', 'ULTRA');
    expect([response.status, billing(response)]).toEqual([200, 'Credits=1']);
    expect(response.headers.get('x-credits-remaining')).toBe('99');
    expect((await viaGateway('ann', 'ULTRA')).headers.get('x-credits-remaining')).toBe('98');
    expect((await viaGateway('bob', 'ultra')).headers.get('x-credits-remaining')).toBe('99');
  });

  it('a marketplace caller has the plan that the marketplace names, the lowest for an unknown name, and changes it immediately', async () => {
    expect((await viaGateway('cay', 'SOMETHING NEW')).headers.get('x-credits-remaining')).toBe('1');
    expect((await viaGateway('cay', 'BASIC')).status).toBe(200);
    const over = await viaGateway('cay', 'BASIC');
    expect([over.status, billing(over)]).toEqual([429, 'Credits=0']);
    expect(await problemOf(over)).toMatchObject({ code: 'quota_exceeded' });
    expect((await viaGateway('cay', 'ULTRA')).headers.get('x-credits-remaining')).toBe('97');
  });

  it('a marketplace caller is accepted with every configured secret and with no other', async () => {
    expect((await viaGateway('dan', 'BASIC', { 'x-rapidapi-proxy-secret': 'old-secret' })).status).toBe(200);
    for (const secret of ['older-secret', '', 'new-secret, old-secret']) {
      const refused = await viaGateway('dan', 'BASIC', { 'x-rapidapi-proxy-secret': secret, 'x-api-key': server.key });
      expect(billing(refused)).toBe('Credits=0');
      expect(await problemOf(refused)).toMatchObject({ status: 401, code: 'marketplace_refused' });
    }
  });

  it('a marketplace caller is rejected without a valid user name', async () => {
    expect((await viaGateway('', 'BASIC')).status).toBe(401);
    expect((await viaGateway('x'.repeat(200), 'BASIC')).status).toBe(401);
  });

  it('a marketplace caller is not billed for a failed request', async () => {
    const headers = { 'x-rapidapi-proxy-secret': 'new-secret', 'x-rapidapi-user': 'eve' };
    const refused = await fetch(`${server.url}/v1/overlay`, { method: 'POST', body: form({ text: 'a' }), headers });
    expect([refused.status, billing(refused)]).toEqual([400, 'Credits=0']);
  });

  it('a marketplace caller uploads and deletes the logos and fonts that its styles name, and the audit log names the marketplace', async () => {
    const headers = {
      'x-rapidapi-proxy-secret': 'new-secret',
      'x-rapidapi-user': 'gus',
      'x-rapidapi-subscription': 'ULTRA',
    };
    const call = async (method: string, path: string, body?: FormData | string): Promise<Response> => {
      const type = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
      return await fetch(`${server.url}${path}`, { method, headers: { ...headers, ...type }, ...(body && { body }) });
    };
    const idOf = async (response: Response): Promise<string> => {
      expect([response.status, billing(response)]).toEqual([201, 'Credits=0']);
      return ((await response.json()) as { id: string }).id;
    };
    const logoFile = new FormData();
    const png = await sharp({ create: { width: 20, height: 20, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    logoFile.append('asset', new Blob([new Uint8Array(png)]), 'logo.png');
    const logo = await idOf(await call('POST', '/v1/logos', logoFile));
    const font = await idOf(await call('POST', '/v1/fonts', fontForm(BANGERS)));
    const style = JSON.stringify({ font, logo: { id: logo } });
    expect((await call('PUT', '/v1/styles/brand', style)).status).toBe(200);
    expect((await call('POST', '/v1/overlay', form({ ...OVERLAY, style: 'brand' }))).status).toBe(200);
    for (const path of ['/v1/styles/brand', `/v1/logos/${logo}`, `/v1/fonts/${font}`]) {
      expect((await call('DELETE', path)).status).toBe(204);
    }
    const log = JSON.parse(await server.cli('audit', '--account', 'rapidapi:gus', '--json')) as Record<
      string,
      string
    >[];
    const changes = log.filter(({ action }) => /^(?:logo|font|style)\./u.test(action ?? ''));
    expect(changes.map(({ action, actor }) => `${action} ${actor}`).toSorted()).toEqual(
      ['font.added', 'font.deleted', 'logo.added', 'logo.deleted', 'style.deleted', 'style.saved'].map(
        (action) => `${action} marketplace:rapidapi`,
      ),
    );
  });

  it('a marketplace caller can be suspended by the operator', async () => {
    await viaGateway('fay', 'ULTRA');
    await server.cli('accounts', 'suspend', 'rapidapi:fay');
    const refused = await viaGateway('fay', 'ULTRA');
    expect([refused.status, billing(refused)]).toEqual([403, 'Credits=0']);
  });
});

describe('a direct caller', () => {
  it('a direct caller with only a marketplace key is told to use the marketplace', async () => {
    const headers = { 'x-rapidapi-key': 'abc', 'x-rapidapi-host': 'storybar.example' };
    const refused = await fetch(`${server.url}/v1/overlay`, { method: 'POST', body: form(OVERLAY), headers });
    expect(await problemOf(refused)).toMatchObject({ status: 401, code: 'marketplace_refused' });
  });

  it('a direct caller with an API key is not affected by marketplace headers', async () => {
    const response = await post(server, form(OVERLAY), { headers: { 'x-rapidapi-key': 'abc' } });
    expect([response.status, billing(response)]).toEqual([200, null]);
  });

  it('a direct caller gets 200 from /ping, the health check of the marketplace', async () => {
    expect((await fetch(`${server.url}/ping`)).status).toBe(200);
  });
});
