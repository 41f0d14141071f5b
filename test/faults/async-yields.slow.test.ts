// One worker, requests that wait for it all the time, and asynchronous renders that need it, too.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { plansFile } from '../plans-file.ts';
import { form, post, type RunningServer, startServer, until } from '../running-server.ts';

const CLIENTS = 4;
const WAITING_REQUESTS = 60;
const QUEUED = 30;

let server: RunningServer;
let photo: Buffer;
let [waitingKey, asyncKey] = ['', ''];
beforeAll(async () => {
  photo = await noisyJpeg(600, 400);
  server = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_PLANS: plansFile({ wide: {} }) });
  const createKey = async (): Promise<string> => {
    const created = await server.cli('keys', 'create', '--plan', 'wide', '--json');
    return (JSON.parse(created) as { key: string }).key;
  };
  [waitingKey, asyncKey] = [await createKey(), await createKey()];
});
afterAll(async () => await server.stop());

async function ended(): Promise<number> {
  const response = await fetch(`${server.url}/v1/renders?limit=100`, { headers: { 'x-api-key': asyncKey } });
  const { renders } = (await response.json()) as { renders: { status: string }[] };
  return renders.filter(({ status }) => status === 'succeeded').length;
}

it('the queue lets asynchronous renders have a small part of a worker that waiting requests need, and all of it afterwards', async () => {
  let served = 0;
  const over = new AbortController();
  const client = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const response = await post({ url: server.url, key: waitingKey }, form({ asset: photo, text: 'Now' }));
      await response.arrayBuffer();
      expect(response.status).toBe(200);
      served += 1;
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  await until(() => served > 0);
  const caller = { url: server.url, key: asyncKey };
  for (let count = 0; count < QUEUED; count += 1) {
    const response = await post(caller, form({ asset: photo, text: 'Later' }), {
      headers: { prefer: 'respond-async' },
    });
    expect(response.status).toBe(202);
  }
  const [servedBefore, endedBefore] = [served, await ended()];
  await until(() => served >= servedBefore + WAITING_REQUESTS);
  const meanwhile = (await ended()) - endedBefore;
  over.abort();
  await clients;
  // The share is a tenth, with room for renders that take longer than others. In turn, it would be a half.
  expect(meanwhile).toBeLessThanOrEqual(WAITING_REQUESTS / 4);
  await until(async () => (await ended()) === QUEUED);
});
