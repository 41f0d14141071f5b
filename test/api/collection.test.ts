// The Postman collection, run from top to bottom.

import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { runCollection } from '../collection-runner.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { startWebhookReceiver } from '../webhook-receiver.ts';

const COLLECTION = readFileSync('docs/integrations/storybar.postman_collection.json', 'utf8');

let server: SharedServer;
let testKey: string;
beforeAll(async () => {
  server = await sharedServer();
  const created = await server.cli('keys', 'create', '--account', server.account, '--test', '--json');
  testKey = (JSON.parse(created) as { key: string }).key;
});

/** Everything that the account has and a run could leave behind. */
async function belongings(): Promise<unknown> {
  const read = async (address: string): Promise<unknown> => {
    const response = await fetch(`${server.url}${address}`, { headers: { 'x-api-key': server.key } });
    expect([address, response.status]).toEqual([address, 200]);
    return await response.json();
  };
  const lists = ['/v1/renders', '/v1/styles', '/v1/logos', '/v1/fonts', '/v1/webhook-endpoints', '/v1/webhook-secret'];
  const { credits } = (await read('/v1/usage')) as { credits: unknown };
  return [credits, ...(await Promise.all(lists.map(read)))];
}

it('the collection runs from top to bottom with its tests, and leaves nothing behind', async () => {
  const receiver = await startWebhookReceiver();
  const before = await belongings();
  const text = COLLECTION.replaceAll('https://hooks.example.com/storybar', `${receiver.url}/hook`);
  const { requests, passed, failed } = await runCollection(text, {
    baseUrl: server.url,
    apiKey: testKey,
    liveKey: server.key,
  });
  expect(failed).toEqual([]);
  const skipped = requests.filter(([, status]) => status === undefined).map(([name]) => name);
  expect(skipped).toEqual(['Get a new secret for webhooks to `webhook_url`']);
  expect(passed.length).toBe(2 * (requests.length - skipped.length));
  expect(await belongings()).toEqual(before);
  await receiver.stop();
});

it('the collection runs with a test key alone, and skips what needs a live key', async () => {
  const { requests, failed } = await runCollection(COLLECTION, { baseUrl: server.url, apiKey: testKey });
  expect(failed).toEqual([]);
  const sent = requests.filter(([, status]) => status !== undefined);
  expect(sent.length).toBeGreaterThan(12);
  expect(sent.length).toBeLessThan(requests.length);
});
