// Credits: what is charged, what is free, and what happens when they run out.

import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decode, noisyJpeg, pixelAt, plainPng } from '../pictures.ts';
import { plansFile } from '../plans-file.ts';
import {
  form,
  post,
  problemOf,
  type RunningServer,
  startServer,
  until,
  WITH_METRICS_TOKEN,
} from '../running-server.ts';
import { plainClip } from '../video/plain-clip.ts';

let server: RunningServer;
beforeAll(async () => {
  const plans = plansFile({
    ten: { credits: 10 },
    hundred: { credits: 100 },
    thousand: { credits: 1_000 },
    tiny: { limits: { imageBytes: 2_000, imagePixels: 10_000, videoSeconds: 1, videoSide: 100 } },
  });
  server = await startServer({ STORYBAR_PLANS: plans });
});
afterAll(async () => {
  await server.stop();
});

const OVERLAY = { text: 'Hello', width: '64', height: '64' };

async function createKey(plan: string, ...options: string[]): Promise<{ key: string; account: string; url: string }> {
  const created = JSON.parse(await server.cli('keys', 'create', '--plan', plan, '--json', ...options)) as {
    key: string;
    account: string;
  };
  return { ...created, url: server.url };
}

/** A clip with ten frames per second. */
function clip(frames: number, width: number): Buffer {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'storybar-clip-')), 'clip.mp4');
  return readFileSync(plainClip(file, { frames, width, timeBase: { num: 1, den: 10 } }));
}

/** Returns the charged and the remaining credits. */
function credits(response: Response): [string | null, string | null] {
  return [response.headers.get('x-credits-charged'), response.headers.get('x-credits-remaining')];
}

/** Runs a statement on the database of the running server. */
function sql(statement: string, ...parameters: string[]): Record<string, unknown>[] {
  const database = new Database(path.join(server.dataDirectory, 'storybar.db'));
  // The server may be writing.
  database.pragma('busy_timeout = 10000');
  try {
    return database.prepare(statement).all(parameters) as Record<string, unknown>[];
  } finally {
    database.close();
  }
}

function balanceOf(account: string): Record<string, unknown> | undefined {
  return sql('select used, reserved from periods where account_id = ? order by starts_at desc', account)[0];
}

describe('credits', () => {
  it('charges 1 credit for an image and 1 per started 5 seconds of video', async () => {
    const caller = await createKey('hundred');
    expect(credits(await post(caller, form(OVERLAY)))).toEqual(['1', '99']);
    expect(credits(await post(caller, form({ asset: await noisyJpeg(64, 64), text: 'a' })))).toEqual(['1', '98']);
    const video = clip(60, 64);
    expect(credits(await post(caller, form({ asset: video, text: 'a' })))).toEqual(['2', '96']);
    await until(() => balanceOf(caller.account)?.['reserved'] === 0);
    expect(balanceOf(caller.account)).toEqual({ used: 4, reserved: 0 });
  });

  it('refuses an account whose credits have run out since its last render, and leaves nothing behind', async () => {
    const caller = await createKey('thousand');
    const photo = await noisyJpeg(64, 64);
    expect(credits(await post(caller, form({ asset: photo, text: 'a' })))).toEqual(['1', '999']);
    expect(credits(await post(caller, form({ asset: photo, text: 'a' })))).toEqual(['1', '998']);
    await until(() => balanceOf(caller.account)?.['reserved'] === 0);
    sql('update periods set used = 1000 where account_id = ? returning used', caller.account);
    const refused = await post(caller, form({ asset: photo, text: 'a' }));
    expect([refused.status, (await problemOf(refused)).code]).toEqual([429, 'quota_exceeded']);
    expect(balanceOf(caller.account)).toEqual({ used: 1_000, reserved: 0 });
    await until(() => server.workDirectories().length === 0);
    // The refusal cost no worker.
    expect(await (await fetch(`${server.url}/health`, WITH_METRICS_TOKEN)).json()).toMatchObject({
      renderer: { images: { restarts: 0 } },
    });
  });

  it('charges nothing for refused requests and undecodable assets', async () => {
    const caller = await createKey('ten');
    const responses = [
      await post(caller, form({ text: 'no size' })),
      await post(caller, form({ asset: Buffer.from('II*.........'), text: 'a' })),
      await post(caller, form({ asset: (await noisyJpeg(64, 64)).subarray(0, 100), text: 'a' })),
    ];
    expect(responses.map((response) => [response.status, ...credits(response)])).toEqual([
      [400, '0', null],
      [415, '0', null],
      [422, '0', null],
    ]);
    expect(credits(await post(caller, form(OVERLAY)))).toEqual(['1', '9']);
  });

  it('returns 429 with the limit and the renewal date when the credits are used up', async () => {
    const caller = await createKey('ten');
    for (let count = 0; count < 10; count += 1) expect((await post(caller, form(OVERLAY))).status).toBe(200);
    const refused = await post(caller, form(OVERLAY));
    const problem = await problemOf(refused);
    expect(problem).toMatchObject({ code: 'quota_exceeded', limit: 10, actual: 11 });
    const days = (Date.parse(problem.renewsAt ?? '') - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(27);
    expect(days).toBeLessThan(31.1);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(27 * 86_400);
    // Fields are checked before credits.
    expect((await post(caller, form({ text: 'no size' }))).status).toBe(400);
  });

  it('500 concurrent requests are never charged more than the quota', async () => {
    const caller = await createKey('hundred');
    const responses = await Promise.all(Array.from({ length: 500 }, async () => await post(caller, form(OVERLAY))));
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(100);
    const codes = await Promise.all(
      responses.filter(({ status }) => status !== 200).map(async (response) => (await problemOf(response)).code),
    );
    // A full queue may refuse some of them, and a busy machine may take too long for some, which is free.
    const expected = /^(?:quota_exceeded|overloaded|deadline_exceeded|upload_too_slow)$/u;
    expect(codes.filter((code) => !expected.test(code))).toEqual([]);
    await until(() => balanceOf(caller.account)?.['reserved'] === 0);
    expect(balanceOf(caller.account)?.['used']).toBe(statuses.filter((status) => status === 200).length);
  });

  it('releases reserved credits when the client disconnects', async () => {
    const caller = await createKey('ten');
    const client = new AbortController();
    const request = post(caller, form({ asset: await noisyJpeg(2000, 1500), text: 'a' }), { signal: client.signal });
    await until(() => balanceOf(caller.account)?.['reserved'] === 1);
    client.abort();
    await expect(request).rejects.toThrow('abort');
    await until(() => balanceOf(caller.account)?.['reserved'] === 0);
    expect(balanceOf(caller.account)).toEqual({ used: 0, reserved: 0 });
    expect(sql('select state, outcome from holds where account_id = ?', caller.account)).toEqual([
      { state: 'released', outcome: 'client_closed' },
    ]);
  });

  it('grants new credits when the next billing period starts', async () => {
    const caller = await createKey('ten');
    for (let count = 0; count < 10; count += 1) await post(caller, form(OVERLAY));
    expect((await post(caller, form(OVERLAY))).status).toBe(429);
    // The subscription started 62 days ago, and the stored period ended 31 days ago.
    const startedAt = new Date(Date.now() - 62 * 86_400_000).toISOString();
    sql(
      'update subscriptions set anchor_at = ?, period_starts_at = ?, period_ends_at = ? where account_id = ? returning plan',
      startedAt,
      startedAt,
      new Date(Date.now() - 31 * 86_400_000).toISOString(),
      caller.account,
    );
    const renewed = await post(caller, form(OVERLAY));
    expect([renewed.status, ...credits(renewed)]).toEqual([200, '1', '9']);
  });
});

describe('test keys', () => {
  it('test keys cost nothing and watermark the image', async () => {
    const live = await createKey('ten');
    const created = await server.cli('keys', 'create', '--account', live.account, '--test', '--json');
    const test = { url: server.url, key: (JSON.parse(created) as { key: string }).key };
    const fields = { ...OVERLAY, width: '400', height: '400' };
    const plain = await decode(await (await post(live, form(fields))).arrayBuffer());
    const response = await post(test, form(fields));
    expect(credits(response)).toEqual(['0', '9']);
    const watermarked = await decode(await response.arrayBuffer());
    const inkIn = (image: typeof plain): number => {
      let ink = 0;
      for (let y = 375; y < 400; y += 1) {
        for (let x = 250; x < 400; x += 1) if ((pixelAt(image, x, y)[3] ?? 0) > 0) ink += 1;
      }
      return ink;
    };
    expect(inkIn(plain)).toBe(0);
    expect(inkIn(watermarked)).toBeGreaterThan(300);
    // The bar is the same between the strokes.
    const column = Array.from({ length: 400 }, (_, y) => [pixelAt(watermarked, 200, y), pixelAt(plain, 200, y)]);
    const bar = column.filter(([, drawn]) => (drawn?.[3] ?? 0) > 0);
    expect(bar.filter(([marked, drawn]) => String(marked) === String(drawn)).length).toBeGreaterThan(bar.length / 2);
  });

  it('test keys have a daily limit of renders, also for requests that wait, and a replay does not count', async () => {
    const { account } = await createKey('ten');
    const created = await server.cli('keys', 'create', '--account', account, '--test', '--json');
    const test = { url: server.url, key: (JSON.parse(created) as { key: string }).key };
    const once = { headers: { 'idempotency-key': 'once' } };
    expect((await post(test, form(OVERLAY), once)).status).toBe(200);
    const counted = (): unknown => sql('select renders from test_renders where account_id = ?', account);
    expect(counted()).toEqual([{ renders: 1 }]);
    // A render that fails doesn't count.
    expect((await post(test, form({ text: 'a', asset: Buffer.from('GIF89a') }))).ok).toBe(false);
    expect(counted()).toEqual([{ renders: 1 }]);
    sql('update test_renders set renders = 500 where account_id = ? returning day', account);
    expect(await problemOf(await post(test, form(OVERLAY)))).toMatchObject({
      status: 429,
      code: 'test_renders_exceeded',
      detail: expect.stringContaining('500 renders per day') as string,
    });
    expect((await post(test, form(OVERLAY), { headers: { prefer: 'respond-async' } })).status).toBe(429);
    expect((await post(test, form(OVERLAY), once)).headers.get('idempotency-replayed')).toBe('true');
    expect(counted()).toEqual([{ renders: 500 }]);
  });
});

describe('plan limits', () => {
  it.each([
    ['image bytes', async () => await noisyJpeg(80, 80), 'asset_too_large'],
    ['image pixels', async () => await plainPng(101, 100, '#888'), 'asset_too_many_pixels'],
    ['video seconds', async () => clip(40, 64), 'asset_too_long'],
    ['video dimensions', async () => clip(5, 128), 'asset_dimensions_too_large'],
  ])('apply to %s: an asset over the limit is refused, and a larger plan accepts it', async (_name, asset, code) => {
    const small = await createKey('tiny');
    const large = await createKey('ten');
    const file = await asset();
    expect(await problemOf(await post(small, form({ asset: file, text: 'a' })))).toMatchObject({ status: 413, code });
    expect((await post(large, form({ asset: file, text: 'a' }))).status).toBe(200);
  });
});
