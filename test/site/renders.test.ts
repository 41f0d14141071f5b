// The page of stored renders: its content and its effects.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { form, post } from '../running-server.ts';
import { newAddress, type SharedServer, sharedServer } from '../shared-server.ts';
import { Visitor } from './visitor.ts';

const PATH = '/dashboard/renders';

let server: SharedServer;
let files: Server;
let slowUrl: string;
let photo: Buffer;
let visitors = 0;
beforeAll(async () => {
  server = await sharedServer();
  photo = await noisyJpeg(200, 150);
  // The host never responds, so a render that fetches from here doesn't end by itself.
  files = createServer(() => undefined);
  await new Promise<void>((resolve) => void files.listen(0, '127.0.0.1', resolve));
  slowUrl = `http://127.0.0.1:${(files.address() as AddressInfo).port}/slow.jpg`;
});
afterAll(async () => {
  files.closeAllConnections();
  files.close();
});

async function newMember(): Promise<{ visitor: Visitor; key: string; keyId: string }> {
  visitors += 1;
  const visitor = new Visitor(server.url, newAddress());
  await visitor.signUpWithPlan(`renders-${visitors}@renders.example.com`);
  const { key, id } = await visitor.createKey({ name: 'stored' });
  return { visitor, key, keyId: id };
}

async function accept(key: string, fields: Parameters<typeof form>[0]): Promise<string> {
  const response = await post({ url: server.url, key }, form({ text: 'Hello', ...fields }), {
    headers: { prefer: 'respond-async' },
  });
  expect(response.status).toBe(202);
  return ((await response.json()) as { id: string }).id;
}

async function ended(key: string, id: string): Promise<void> {
  const response = await fetch(`${server.url}/v1/renders/${id}?wait=60`, { headers: { 'x-api-key': key } });
  expect(((await response.json()) as { finished_at: string | null }).finished_at).not.toBeNull();
}

const idsIn = (text: string): string[] =>
  [...text.matchAll(/href="\/dashboard\/renders\/([\da-f-]{36})"/gu)].map(([, id = '']) => id);

describe('the page of stored renders', () => {
  it('the page of stored renders lists renders with their links and errors, and filters them', async () => {
    const { visitor, key, keyId } = await newMember();
    expect((await visitor.get(PATH)).text).toContain('No renders found');
    const good = await accept(key, { asset: photo });
    const bad = await accept(key, { asset: photo.subarray(0, 200) });
    for (const id of [good, bad]) await ended(key, id);
    const open = await accept(key, { asset_url: slowUrl });
    const { text } = await visitor.get(PATH);
    expect(idsIn(text)).toEqual([open, bad, good]);
    expect(text).toContain('href="/docs/errors#asset_undecodable"');
    const link = /\/v1\/results\/[\w-]{32}\.png/u.exec(text)?.[0] ?? '';
    expect((await fetch(`${server.url}${link}`)).headers.get('content-type')).toBe('image/png');
    for (const [query, ids] of [
      ['status=succeeded', [good]],
      ['status=failed', [bad]],
      [`key=${keyId}&day=${new Date().toISOString().slice(0, 10)}`, [open, bad, good]],
      ['key=unknown', []],
      ['day=2020-01-01', []],
      [`after=${bad}`, [good]],
      ['status=x&day=y&after=z', []],
    ] as const) {
      expect([query, idsIn((await visitor.get(`${PATH}?${query}`)).text)]).toEqual([query, ids]);
    }
    const detail = (await visitor.get(`${PATH}/${good}`)).text;
    expect(detail).toContain('200 × 150 pixels');
    expect(detail).toContain(link);
    expect((await visitor.get(`${PATH}/${bad}`)).text).toContain('How to fix it');
    await visitor.submit(`${PATH}/${open}`, {}, `${PATH}/${open}/cancel`);
  });

  it('the page of stored renders cancels a render without a charge, and says so when it had ended before', async () => {
    const { visitor, key } = await newMember();
    const open = await accept(key, { asset_url: slowUrl });
    const page = `${PATH}/${open}`;
    const canceled = await visitor.submit(page, {}, `${page}/cancel`);
    expect(canceled.location).toBe(`${page}?done=render-canceled`);
    const after = (await visitor.get(canceled.location ?? '')).text;
    expect(after).toContain('Render canceled. It costs nothing.');
    expect(after).not.toContain('Cancel render');
    const done = await accept(key, { asset: photo });
    await ended(key, done);
    const late = await visitor.submit(`${PATH}/${done}`, {}, `${PATH}/${done}/cancel`);
    expect(late.location).toBe(`${PATH}/${done}?done=render-ended`);
    expect((await visitor.get(late.location ?? '')).text).toContain('Succeeded');
  });

  it('the page of stored renders deletes a render that has ended with its result, and no other', async () => {
    const { visitor, key } = await newMember();
    const done = await accept(key, { asset: photo });
    await ended(key, done);
    const link = /\/v1\/results\/[\w.-]+/u.exec((await visitor.get(`${PATH}/${done}`)).text)?.[0] ?? '';
    const open = await accept(key, { asset_url: slowUrl });
    expect((await visitor.submit(`${PATH}/${open}`, {}, `${PATH}/${open}/delete`)).status).toBe(404);
    expect(await visitor.submit(`${PATH}/${done}`, {}, `${PATH}/${done}/delete`)).toMatchObject({
      location: `${PATH}?done=render-deleted`,
    });
    expect(idsIn((await visitor.get(PATH)).text)).toEqual([open]);
    expect((await visitor.get(`${PATH}/${done}`)).status).toBe(404);
    expect((await fetch(`${server.url}${link}`)).status).toBe(404);
    await visitor.submit(`${PATH}/${open}`, {}, `${PATH}/${open}/cancel`);
  });

  it('the page of stored renders shows and changes only renders of the own account', async () => {
    const { visitor, key } = await newMember();
    const { visitor: other } = await newMember();
    const open = await accept(key, { asset_url: slowUrl });
    expect(idsIn((await other.get(PATH)).text)).toEqual([]);
    expect((await other.get(`${PATH}/${open}`)).status).toBe(404);
    for (const action of ['cancel', 'delete']) {
      expect((await other.submit('/dashboard/keys', {}, `${PATH}/${open}/${action}`)).status).toBe(404);
      expect((await visitor.send(`${PATH}/${open}/${action}`, {})).status).toBe(403);
    }
    expect((await visitor.get(`${PATH}/${open}`)).text).toContain('Cancel render');
    await visitor.submit(`${PATH}/${open}`, {}, `${PATH}/${open}/cancel`);
  });
});
