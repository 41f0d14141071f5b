// Rate limits and concurrency limits of the API.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdImages } from '../held-workers.ts';
import { noisyJpeg } from '../pictures.ts';
import { plansFile } from '../plans-file.ts';
import { form, health, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';

let server: RunningServer;
beforeAll(async () => {
  const plans = plansFile({
    rare: { requestsPerMinute: 1 },
    slow: { requestsPerMinute: 5 },
    clumsy: { requestsPerMinute: 30 },
    narrow: { concurrentRenders: 2 },
    wide: {},
  });
  server = await startServer({ STORYBAR_PLANS: plans });
});
afterAll(async () => {
  await server.stop();
});

const OVERLAY = { text: 'Hello', width: '64', height: '64' };

async function newKey(plan: string): Promise<{ id: string; key: string; account: string; url: string }> {
  const made = await server.cli('keys', 'create', '--plan', plan, '--json');
  return { ...(JSON.parse(made) as { id: string; key: string; account: string }), url: server.url };
}

describe('rate limit', () => {
  it('the rate limit is counted in the response headers and ends in 429', async () => {
    const caller = await newKey('slow');
    const seen: (string | null)[] = [];
    for (let count = 0; count < 5; count += 1) {
      const response = await post(caller, form(OVERLAY));
      expect(response.status).toBe(200);
      expect(response.headers.get('ratelimit-policy')).toBe('"burst";q=5;w=60');
      seen.push(response.headers.get('ratelimit')?.replace(/;t=\d+$/u, '') ?? null);
    }
    expect(seen).toEqual(['"burst";r=4', '"burst";r=3', '"burst";r=2', '"burst";r=1', '"burst";r=0']);
    const refused = await post(caller, form(OVERLAY));
    expect(await problemOf(refused)).toMatchObject({ status: 429, code: 'rate_limited' });
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(12);
    expect(refused.headers.get('ratelimit')).toMatch(/^"burst";r=0;t=\d+$/u);
    expect(refused.headers.get('x-credits-charged')).toBe('0');
  });

  it('the rate limit is shared by all keys of an account', async () => {
    const first = await newKey('slow');
    const made = await server.cli('keys', 'create', '--account', first.account, '--json');
    const second = { url: server.url, key: (JSON.parse(made) as { key: string }).key };
    for (let count = 0; count < 5; count += 1) await post(first, form({ text: 'bad' }));
    expect((await post(second, form(OVERLAY))).status).toBe(429);
    expect((await post(await newKey('slow'), form(OVERLAY))).status).toBe(200);
  });
});

describe('rate limit of layouts', () => {
  it('counts every started 100 cues as a request', async () => {
    const { key } = await newKey('rare');
    const cues = Array.from({ length: 401 }, (_, index) => {
      const time = `00:${String(Math.trunc(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}`;
      return `${index + 1}\n${time},000 --> ${time},900\nHi\n`;
    });
    const layout = async (captions: string): Promise<Response> =>
      await fetch(`${server.url}/v1/layout`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: JSON.stringify({ width: 300, height: 300, captions, duration: 600 }),
      });
    const small = await layout(cues.slice(0, 100).join('\n'));
    expect(small.headers.get('ratelimit')).toMatch(/^"burst";r=9;/u);
    // The limit is ten requests per minute. One counts as five of the other nine, so the next one is refused.
    const large = await layout(cues.join('\n'));
    expect(large.status).toBe(200);
    expect(large.headers.get('ratelimit')).toMatch(/^"burst";r=[45];/u);
    const refused = await until(async () => {
      const response = await layout(cues.join('\n'));
      return response.status !== 200 && response;
    });
    expect(await problemOf(refused)).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('limit of files that cannot be decoded', () => {
  it('ends in 429 before the next upload is read, and leaves other accounts alone', async () => {
    const caller = await newKey('clumsy');
    const damaged = Buffer.concat([Buffer.from('ffd8ffe00004', 'hex'), Buffer.alloc(100)]);
    const codes: string[] = [];
    // The rate limit of the plan allows a request every two seconds after the first 30.
    const refused = await until(async () => {
      const response = await post(caller, form({ text: 'Hi', asset: damaged }));
      const { code } = await problemOf(response);
      codes.push(code);
      return code !== 'asset_undecodable' && code !== 'rate_limited' && response;
    });
    expect(codes.at(-1)).toBe('too_many_failures');
    expect(codes.filter((code) => code === 'asset_undecodable').length).toBeGreaterThanOrEqual(30);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await post(await newKey('clumsy'), form(OVERLAY))).status).toBe(200);
  });
});

describe('concurrency limit', () => {
  it('returns 429 when the account has no free render slot, and frees slots when renders finish', async () => {
    const caller = await newKey('narrow');
    const photo = await noisyJpeg(300, 300);
    const release = holdImages(server);
    let refusals = 0;
    const requests = Array.from({ length: 6 }, async () => {
      const response = await post(caller, form({ asset: photo, text: 'a' }));
      if (response.status === 429) refusals += 1;
      return response;
    });
    await until(() => refusals === 4);
    release();
    const responses = await Promise.all(requests);
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 429, 429, 429, 429]);
    const refused = responses.find(({ status }) => status === 429);
    expect(refused && (await problemOf(refused))).toMatchObject({ code: 'too_many_renders' });
    expect(refused?.headers.get('retry-after')).toBe('1');
    await Promise.all(
      responses.map(async (response) => (response.bodyUsed ? undefined : await response.arrayBuffer())),
    );
    // Slots are freed after the charge, which follows the last byte.
    await expect.poll(async () => (await post(caller, form(OVERLAY))).status).toBe(200);
  });

  it('frees the slot when the client disconnects', async () => {
    const caller = await newKey('narrow');
    const photo = await noisyJpeg(300, 300);
    for (let round = 0; round < 3; round += 1) {
      await until(() => health(server).then(({ renderer }) => renderer.images.ready === 1));
      holdImages(server);
      const disconnect = new AbortController();
      const aborted = [0, 1].map(
        async () => await post(caller, form({ asset: photo, text: 'a' }), { signal: disconnect.signal }),
      );
      await until(() => health(server).then(({ renderer: { images } }) => images.busy + images.waiting === 2));
      expect((await post(caller, form(OVERLAY))).status).toBe(429);
      disconnect.abort();
      await Promise.allSettled(aborted);
      const isFree = await until(async () => (await post(caller, form(OVERLAY))).status === 200);
      expect(isFree).toBe(true);
    }
  });
});

describe('invalid keys', () => {
  it('invalid keys are rate limited by address without affecting valid keys from the same address', async () => {
    const caller = await newKey('wide');
    const wrong = { url: server.url, key: `${caller.key.slice(0, -1)}${caller.key.endsWith('a') ? 'b' : 'a'}` };
    const responses: Response[] = [];
    const refused: Response[] = [];
    // The bucket refills by one each second, so not exactly the 61st request is refused, and on a slow machine a much
    // later one.
    while (refused.length <= 5 && responses.length < 1_000) {
      const response = await post(wrong, form(OVERLAY));
      responses.push(response);
      if (response.status === 429) refused.push(response);
    }
    expect(responses.slice(0, 60).every(({ status }) => status === 401)).toBe(true);
    expect(refused).toHaveLength(6);
    expect(refused[0] && (await problemOf(refused[0]))).toMatchObject({ code: 'too_many_failed_keys' });
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await post(caller, form(OVERLAY))).status).toBe(200);
  });
});

describe('logs', () => {
  it('logs never contain an API key', async () => {
    const caller = await newKey('wide');
    await post(caller, form(OVERLAY));
    await post(caller, form({ text: 'bad' }));
    const { stderr } = server.output();
    expect(stderr).toContain('request completed');
    expect(stderr).not.toMatch(/sb_(?:live|test)_\w{12}/u);
  });
});
