// A server that is killed while it sends a webhook: the next one sends it again.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startServer, until } from '../running-server.ts';
import { startWebhookReceiver } from '../webhook-receiver.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'storybar-webhooks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('webhooks are sent after kill -9 of the server, those that were being sent and those of renders that had just ended', async () => {
  const receiver = await startWebhookReceiver();
  const environment = { STORYBAR_DATA_DIR: folder, STORYBAR_FETCH_ALLOW: '127.0.0.1' };
  const first = await startServer(environment);
  const headers = { 'x-api-key': first.key, 'content-type': 'application/json' };
  const send = async (url: string, address: string, body: object): Promise<{ id: string }> =>
    (await (await fetch(`${url}${address}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as {
      id: string;
    };
  // The receiver takes the first webhook and never responds.
  const { id } = await send(first.url, '/v1/webhook-endpoints', { url: `${receiver.url}/silent` });
  await send(first.url, `/v1/webhook-endpoints/${id}/test`, {});
  await until(() => receiver.received.length === 1);
  const render = { text: 'Hi', width: 32, height: 32, async: true, webhook_url: `${receiver.url}/request` };
  const accepted = await send(first.url, '/v1/overlay', render);
  first.signal('SIGKILL');
  await first.exited;
  const second = await startServer(environment);
  await until(() => receiver.received.filter((one) => one.path === '/silent').length >= 2);
  const tests = receiver.received.filter(({ body }) => body.includes('webhook.test'));
  expect(new Set(tests.map((one) => one.headers['webhook-id'])).size).toBe(1);
  await until(() => receiver.received.some(({ body, path: at }) => at === '/request' && body.includes(accepted.id)));
  const found = await fetch(`${second.url}/v1/renders/${accepted.id}`, { headers });
  expect(await found.json()).toMatchObject({ status: 'succeeded', credits: 1 });
  await second.stop();
  await receiver.stop();
});
