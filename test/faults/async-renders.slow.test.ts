// kill -9 of the server while accepted renders wait, are fetched, rendered and stored. Every one must end and be
// charged once.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { embeddedDatabase, type RunningDatabase } from '../running-database.ts';
import { form, post, type RunningServer, startServer, until } from '../running-server.ts';

const KILLS = 3;
const PER_ROUND = 12;

let database: RunningDatabase;
let files: Server;
let photo: Buffer;
beforeAll(async () => {
  database = embeddedDatabase();
  photo = await noisyJpeg(900, 900);
  // The responses are slow, so that a kill also hits renders that are being fetched.
  files = createServer((_request, response) => {
    response.write(photo.subarray(0, 1_000));
    setTimeout(() => response.end(photo.subarray(1_000)), 150);
  });
  await new Promise<void>((resolve) => void files.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  files.close();
  await database.remove();
});

interface Render {
  readonly id: string;
  readonly status: string;
  readonly credits: number;
  readonly output: { readonly url: string; readonly bytes: number } | null;
}

async function start(): Promise<RunningServer> {
  return await startServer({ ...database.env, STORYBAR_FETCH_ALLOW: '127.0.0.1' });
}

it('every accepted render ends and is charged once, although the server is killed again and again', async () => {
  const url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/photo.jpg`;
  const accepted = new Set<string>();
  let server = await start();
  const { key } = server;
  for (let round = 0; round < KILLS; round += 1) {
    const caller = { url: server.url, key };
    for (let count = 0; count < PER_ROUND; count += 1) {
      const fields = count % 3 === 0 ? { asset_url: url } : { asset: photo };
      const response = await post(caller, form({ ...fields, text: 'Hello' }), { headers: { prefer: 'respond-async' } });
      expect(response.status).toBe(202);
      accepted.add(((await response.json()) as Render).id);
    }
    // Every round kills in a different phase of the renders.
    await wait(60 * round);
    server.signal('SIGKILL');
    await server.exited;
    server = await start();
  }
  const headers = { 'x-api-key': key };
  const renders = await until(async () => {
    const response = await fetch(`${server.url}/v1/renders?limit=100`, { headers });
    const list = ((await response.json()) as { renders: Render[] }).renders;
    return list.every(({ status }) => status === 'succeeded' || status === 'failed') && list;
  });
  expect(new Set(renders.map(({ id }) => id))).toEqual(accepted);
  expect(renders.filter(({ status }) => status !== 'succeeded')).toEqual([]);
  const usage = (await (await fetch(`${server.url}/v1/usage`, { headers })).json()) as {
    credits: { used: number; reserved: number };
  };
  expect(usage.credits).toMatchObject({ used: accepted.size, reserved: 0 });
  for (const { output } of renders.slice(0, 10)) {
    const file = await fetch((output?.url ?? '').replace(/^http:\/\/[^/]+/u, server.url));
    expect((await file.arrayBuffer()).byteLength).toBe(output?.bytes);
  }
  // One hold per render, settled, and none of a render that wasn't accepted.
  expect(await database.read('select state, count(*) as n, sum(credits) as credits from holds group by state')).toEqual(
    [{ state: 'settled', n: accepted.size, credits: accepted.size }],
  );
  expect(await database.read('select max(attempts) > 1 as repeated from renders')).toEqual([{ repeated: 1 }]);
  await server.stop();
});
