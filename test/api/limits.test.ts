// How often, and how many at once.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { plansFile } from '../plans-file.ts';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';

let server: RunningServer;
beforeAll(async () => {
  const plans = plansFile({ slow: { requestsPerMinute: 5 }, narrow: { concurrentRenders: 2 }, wide: {} });
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

describe('requests a minute', () => {
  it('are counted in the headers and end in 429', async () => {
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

  it('are those of the account, whatever its keys', async () => {
    const first = await newKey('slow');
    const made = await server.cli('keys', 'create', '--account', first.account, '--json');
    const second = { url: server.url, key: (JSON.parse(made) as { key: string }).key };
    for (let count = 0; count < 5; count += 1) await post(first, form({ text: 'bad' }));
    expect((await post(second, form(OVERLAY))).status).toBe(429);
    expect((await post(await newKey('slow'), form(OVERLAY))).status).toBe(200);
  });
});

describe('renders at once', () => {
  it('end in 429 beyond the plan, and the place is free again afterwards', async () => {
    const caller = await newKey('narrow');
    const photo = await noisyJpeg(3000, 3000);
    const answers = await Promise.all(
      Array.from({ length: 6 }, async () => await post(caller, form({ asset: photo, text: 'a' }))),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 429, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused && (await problemOf(refused))).toMatchObject({ code: 'too_many_renders' });
    expect(refused?.headers.get('retry-after')).toBe('1');
    await Promise.all(answers.map(async (answer) => (answer.bodyUsed ? undefined : await answer.arrayBuffer())));
    expect((await post(caller, form(OVERLAY))).status).toBe(200);
  });

  it('give their place back when the client leaves', async () => {
    const caller = await newKey('narrow');
    const photo = await noisyJpeg(3000, 3000);
    for (let round = 0; round < 3; round += 1) {
      const leaving = new AbortController();
      const gone = [0, 1].map(
        async () => await post(caller, form({ asset: photo, text: 'a' }), { signal: leaving.signal }),
      );
      await until(async () => (await post(caller, form(OVERLAY))).status === 429);
      leaving.abort();
      await Promise.allSettled(gone);
      const back = await until(async () => (await post(caller, form(OVERLAY))).status === 200);
      expect(back).toBe(true);
    }
  });
});

describe('invalid keys', () => {
  it('are throttled by address, and good keys still work from there', async () => {
    const caller = await newKey('wide');
    const wrong = { url: server.url, key: `${caller.key.slice(0, -1)}${caller.key.endsWith('a') ? 'b' : 'a'}` };
    const answers: Response[] = [];
    for (let count = 0; count < 80; count += 1) answers.push(await post(wrong, form(OVERLAY)));
    // One more is forgiven every second, so it is not exactly the 61st that is refused.
    expect(answers.slice(0, 60).every(({ status }) => status === 401)).toBe(true);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(5);
    expect(refused[0] && (await problemOf(refused[0]))).toMatchObject({ code: 'too_many_failed_keys' });
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await post(caller, form(OVERLAY))).status).toBe(200);
  });
});

describe('logs', () => {
  it('never show a key', async () => {
    const caller = await newKey('wide');
    await post(caller, form(OVERLAY));
    await post(caller, form({ text: 'bad' }));
    const { stderr } = server.output();
    expect(stderr).toContain('request completed');
    expect(stderr).not.toMatch(/sb_(?:live|test)_\w{12}/u);
  });
});
