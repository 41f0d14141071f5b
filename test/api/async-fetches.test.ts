// Asynchronous renders whose files come from hosts that take their time. The files of other accounts must not wait for them.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdVideos } from '../held-workers.ts';
import { post, type RunningServer, startServer, until } from '../running-server.ts';

const EXAMPLES = path.resolve(import.meta.dirname, '../../examples');
const PHOTO = readFileSync(path.join(EXAMPLES, 'photo.jpg'));
const CLIP = readFileSync(path.join(EXAMPLES, 'clip.mp4'));
/** The free plan renders two at a time, so these are more files than the server has workers. */
const ACCOUNTS = 5;

let server: RunningServer;
let files: Server;
let base: string;
let clips = 0;
const dripping = new Set<ServerResponse>();

/** Fast enough for the server, and far from the size limit for minutes. */
function drip(response: ServerResponse): void {
  dripping.add(response);
  const timer = setInterval(() => response.write(Buffer.alloc(10_000)), 100);
  response.write(CLIP.subarray(0, 1_000));
  response.once('close', () => {
    clearInterval(timer);
    dripping.delete(response);
  });
}

beforeAll(async () => {
  server = await startServer({ STORYBAR_FETCH_ALLOW: '127.0.0.2/32' });
  files = createServer(({ url }, response) => {
    if (url === '/drip') drip(response);
    else if (url === '/clip') response.end(CLIP, () => (clips += 1));
    else response.end(PHOTO);
  }).listen(0, '127.0.0.2');
  await once(files, 'listening');
  base = `http://127.0.0.2:${(files.address() as AddressInfo).port}`;
});
afterAll(async () => {
  files.closeAllConnections();
  files.close();
  await server.stop();
});

async function accept(key: string, asset_url: string): Promise<string> {
  const headers = { 'content-type': 'application/json', prefer: 'respond-async' };
  const response = await post({ url: server.url, key }, JSON.stringify({ asset_url, text: 'Hello' }), { headers });
  expect(response.status).toBe(202);
  return ((await response.json()) as { id: string }).id;
}

async function newKey(): Promise<string> {
  const created = await server.cli('keys', 'create', '--plan', 'free', '--test', '--json');
  return (JSON.parse(created) as { key: string }).key;
}

async function statusOf(id: string, key: string): Promise<string> {
  const response = await fetch(`${server.url}/v1/renders/${id}`, { headers: { 'x-api-key': key } });
  return ((await response.json()) as { status: string }).status;
}

/** Every account sends as many as its plan renders at once. Returns a function that cancels all of them. */
async function acceptForAll(url: string): Promise<() => Promise<void>> {
  const accepted: { readonly id: string; readonly key: string }[] = [];
  for (let account = 0; account < ACCOUNTS; account += 1) {
    const key = await newKey();
    for (let count = 0; count < 2; count += 1) accepted.push({ id: await accept(key, url), key });
  }
  return async () => {
    for (const { id, key } of accepted) {
      await fetch(`${server.url}/v1/renders/${id}`, { method: 'DELETE', headers: { 'x-api-key': key } });
    }
  };
}

describe('the file of another account', () => {
  it('the file of an account is fetched while the hosts of five other accounts send as slowly as allowed', async () => {
    const cancelAll = await acceptForAll(`${base}/drip`);
    await until(() => dripping.size === 2 * ACCOUNTS);
    const id = await accept(server.key, `${base}/photo`);
    await until(async () => (await statusOf(id, server.key)) === 'succeeded');
    expect(dripping.size).toBe(2 * ACCOUNTS);
    await cancelAll();
    await until(() => dripping.size === 0);
  });

  it('the file of an account is fetched while the fetched files of five other accounts wait for a worker', async () => {
    const release = holdVideos(server);
    try {
      const cancelAll = await acceptForAll(`${base}/clip`);
      await until(() => clips === 2 * ACCOUNTS);
      const id = await accept(server.key, `${base}/photo`);
      await until(async () => (await statusOf(id, server.key)) === 'succeeded');
      expect(clips).toBe(2 * ACCOUNTS);
      await cancelAll();
    } finally {
      release();
    }
  });
});
