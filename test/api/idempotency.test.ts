// `Idempotency-Key`: one render, one charge, however often it is sent.

import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';

let server: RunningServer;
let photo: Buffer;
beforeAll(async () => {
  server = await startServer({ STORYBAR_REPLAY_MB: '20' });
  photo = await noisyJpeg(300, 300);
});
afterAll(async () => {
  await server.stop();
});

async function ask(key: string, fields: Parameters<typeof form>[0]): Promise<Response> {
  return await post(server, form(fields), { headers: { 'idempotency-key': key } });
}

const remaining = async (): Promise<number> => {
  const response = await post(server, form({ text: 'a', width: '16', height: '16' }));
  return Number(response.headers.get('x-credits-remaining'));
};

describe('the same key and the same request', () => {
  it('gives the same bytes and id again, free of charge', async () => {
    const key = randomUUID();
    const first = await ask(key, { asset: photo, text: 'Hello' });
    const bytes = Buffer.from(await first.arrayBuffer());
    const second = await ask(key, { text: 'Hello', asset: photo });
    expect(second.status).toBe(200);
    expect(Buffer.from(await second.arrayBuffer()).equals(bytes)).toBe(true);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect([first, second].map(({ headers }) => headers.get('x-credits-charged'))).toEqual(['1', '0']);
    for (const name of ['x-render-id', 'content-disposition', 'content-type', 'x-source-type', 'content-length']) {
      expect(second.headers.get(name)).toBe(first.headers.get(name));
    }
  });

  it('renders again for nothing when the kept bytes are gone', async () => {
    const key = `"${randomUUID()}"`;
    const first = await ask(key, { asset: photo, text: 'Gone' });
    const bytes = Buffer.from(await first.arrayBuffer());
    const before = await remaining();
    const replayCache = path.join(server.dataDirectory, 'replays');
    // Pushed off the replayCache by larger ones.
    for (let count = 0; count < 3; count += 1) {
      await (await ask(randomUUID(), { asset: await noisyJpeg(1800, 1800), text: String(count) })).arrayBuffer();
    }
    await until(() => !readdirSync(replayCache).includes(first.headers.get('x-render-id') ?? ''));
    const again = await ask(key.replaceAll('"', ''), { asset: photo, text: 'Gone' });
    expect([again.status, again.headers.get('x-credits-charged')]).toEqual([200, '0']);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.headers.get('x-render-id')).toBe(first.headers.get('x-render-id'));
    expect(Buffer.from(await again.arrayBuffer()).equals(bytes)).toBe(true);
    // Three large ones and the question itself.
    expect(await remaining()).toBe(before - 4);
  });

  it('is 409 while the first is under way, and one render in the end', async () => {
    const key = randomUUID();
    const large = await noisyJpeg(3000, 3000);
    const answers = await Promise.all(
      Array.from({ length: 4 }, async () => await ask(key, { asset: large, text: 'Hello' })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
    const conflict = answers.find(({ status }) => status === 409);
    expect(conflict && (await problemOf(conflict))).toMatchObject({ code: 'idempotency_in_flight' });
    expect(Number(conflict?.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('begins anew after a failure', async () => {
    const key = randomUUID();
    expect((await ask(key, { asset: photo.subarray(0, 200), text: 'Hello' })).status).toBe(422);
    const second = await ask(key, { asset: photo.subarray(0, 200), text: 'Hello' });
    expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([422, null]);
    expect((await ask(key, { asset: photo, text: 'Hello' })).status).toBe(200);
  });
});

describe('the same key', () => {
  it.each([
    ['another caption', { text: 'Other' }],
    ['another picture', { text: 'Hello', asset: 'other' }],
  ])('with %s is 422', async (_name, change) => {
    const key = randomUUID();
    expect((await ask(key, { asset: photo, text: 'Hello' })).status).toBe(200);
    const asset = 'asset' in change ? await noisyJpeg(300, 300) : photo;
    const refused = await ask(key, { asset, text: change.text });
    expect(await problemOf(refused)).toMatchObject({ status: 422, code: 'idempotency_mismatch' });
  });

  it('of another account is another key', async () => {
    const key = randomUUID();
    await ask(key, { asset: photo, text: 'Hello' });
    const made = await server.cli('keys', 'create', '--plan', 'free', '--json');
    const other = { url: server.url, key: (JSON.parse(made) as { key: string }).key };
    const response = await post(other, form({ asset: photo, text: 'Hello' }), { headers: { 'idempotency-key': key } });
    expect(response.headers.get('x-credits-charged')).toBe('1');
  });

  it.each([[' '], ['x'.repeat(256)], ['""']])('is refused as %j', async (key) => {
    const refused = await ask(key, { asset: photo, text: 'Hello' });
    expect(await problemOf(refused)).toMatchObject({ status: 400, code: 'invalid_idempotency_key' });
  });
});

it('survives a restart', async () => {
  const dataDirectory = `${server.dataDirectory}-restart`;
  const first = await startServer({ STORYBAR_DATA_DIR: dataDirectory });
  const key = randomUUID();
  const options = { headers: { 'idempotency-key': key } };
  const response = await post(first, form({ asset: photo, text: 'Hello' }), options);
  const bytes = Buffer.from(await response.arrayBuffer());
  await first.stop();
  const second = await startServer({ STORYBAR_DATA_DIR: dataDirectory });
  const again = await post({ url: second.url, key: first.key }, form({ asset: photo, text: 'Hello' }), options);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(Buffer.from(await again.arrayBuffer()).equals(bytes)).toBe(true);
  await second.stop();
  rmSync(dataDirectory, { recursive: true, force: true });
});
