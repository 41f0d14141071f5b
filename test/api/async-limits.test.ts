// What a server refuses: asynchronous requests beyond the limits of a plan, through a marketplace, or at all.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { form, post, problemOf, type RunningServer, startServer } from '../running-server.ts';

const ASYNC = { prefer: 'respond-async' };
const CANVAS = { text: 'Hello', width: '320', height: '240' };

describe('a server with limits', () => {
  let limited: RunningServer;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'storybar-plans-'));
    const plans = path.join(folder, 'plans.json');
    const plan = { name: 'small', monthlyPriceCents: 0, credits: 100, requestsPerMinute: 600, concurrentRenders: 1 };
    writeFileSync(plans, JSON.stringify({ plans: [{ ...plan, limits: { queuedRenders: 2, storedBytes: 200_000 } }] }));
    limited = await startServer({ STORYBAR_PLANS: plans, STORYBAR_MARKETPLACE_SECRETS: 'secret-of-the-gateway' });
  });
  afterAll(async () => {
    await limited.stop();
    rmSync(folder, { recursive: true });
  });

  it('refuses more queued renders and more stored bytes than the plan allows, with 429', async () => {
    const large = await noisyJpeg(1_000, 1_000);
    expect(large.length).toBeGreaterThan(200_000);
    const tooLarge = await post(limited, form({ asset: large, text: 'a' }), { headers: ASYNC });
    expect(await problemOf(tooLarge)).toMatchObject({ status: 429, code: 'stored_bytes_exceeded', limit: 200_000 });
    const requests = Array.from({ length: 3 }, () => ({ text: 'a', width: 64, height: 64 }));
    const tooMany = await fetch(`${limited.url}/v1/batches`, {
      method: 'POST',
      headers: { 'x-api-key': limited.key, 'content-type': 'application/json' },
      body: JSON.stringify({ requests }),
    });
    expect(await problemOf(tooMany)).toMatchObject({ status: 429, code: 'too_many_queued', limit: 2, actual: 3 });
    expect(readdirSync(path.join(limited.dataDirectory, 'objects', 'assets'))).toEqual([]);
  });

  it('refuses asynchronous requests through a marketplace, but not links', async () => {
    const gateway = {
      'x-rapidapi-proxy-secret': 'secret-of-the-gateway',
      'x-rapidapi-user': 'ann',
      'x-rapidapi-subscription': 'BASIC',
    };
    const send = async (headers: Record<string, string>, fields: Record<string, string>): Promise<Response> =>
      await fetch(`${limited.url}/v1/overlay`, {
        method: 'POST',
        headers: { ...gateway, ...headers },
        body: form(fields),
      });
    expect(await problemOf(await send(ASYNC, CANVAS))).toMatchObject({ status: 403, code: 'async_not_allowed' });
    expect(await problemOf(await send({}, { ...CANVAS, async: 'true' }))).toMatchObject({ code: 'async_not_allowed' });
    const link = await send({}, { ...CANVAS, deliver: 'url' });
    expect([link.status, link.headers.get('x-rapidapi-billing')]).toEqual([200, 'Credits=1']);
  });
});

it('refuses asynchronous requests and links when they are off', async () => {
  const off = await startServer({ STORYBAR_ASYNC: 'off' });
  const disabled = { status: 400, code: 'async_disabled' };
  expect(await problemOf(await post(off, form(CANVAS), { headers: ASYNC }))).toMatchObject(disabled);
  expect(await problemOf(await post(off, form({ ...CANVAS, async: 'true' })))).toMatchObject(disabled);
  expect(await problemOf(await post(off, form({ ...CANVAS, deliver: 'url' })))).toMatchObject(disabled);
  expect((await post(off, form(CANVAS))).status).toBe(200);
  await off.stop();
});
