// The runner with a real store and real receivers. The test sets the clock of the store, so schedules of hours take no
// time.

import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { until } from '../../../test/running-server.ts';
import { sqliteDatabase } from '../../../test/store/databases.ts';
import { OPTIONS, renderSetup } from '../../../test/store/render-setup.ts';
import { DAY, HOUR, World } from '../../../test/store/world.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../../test/webhook-receiver.ts';
import { must } from '../../shared/must.ts';
import type { Store } from '../store/store.ts';
import { createLogger } from '../telemetry/logger.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { FetchPolicy } from '../fetch/fetch-policy.ts';
import { createWebhookRunner, type WebhookRunner, type WebhookRunnerOptions } from './webhook-runner.ts';
import { WebhookSender } from './webhook-sender.ts';

const BASE_URL = 'https://storybar.example';
const ACTOR = 'cli:test';
const REQUEST = JSON.stringify({ isJson: true, fields: [{ name: 'text', value: 'Hi' }] });

let world: World;
let receiver: WebhookReceiver;
let runners: WebhookRunner[];
let metrics: Metrics;
beforeEach(async () => {
  world = await World.begin(sqliteDatabase());
  receiver = await startWebhookReceiver();
  runners = [];
  metrics = new Metrics('test');
});
afterEach(async () => {
  for (const runner of runners) await runner.stop(0);
  await receiver.stop();
  await world.database.remove();
});
const { accepted, newRender } = renderSetup(() => world);

function startRunner(store: Store = world.store, options: Partial<WebhookRunnerOptions> = {}): WebhookRunner {
  const policy = new FetchPolicy('public', ['127.0.0.1']);
  const runner = createWebhookRunner({
    renders: store.renders,
    deliveries: store.webhookDeliveries,
    logger: createLogger('silent', 'test'),
    sender: new WebhookSender({ policy, userAgent: 'storybar/test' }),
    metrics: metrics.webhooks,
    baseUrl: () => BASE_URL,
    ...options,
  });
  runners.push(runner);
  runner.start();
  return runner;
}

async function endpoint(accountId: string, path: string): Promise<{ id: string; secret: string }> {
  const id = randomUUID();
  const created = { id, accountId, url: `${receiver.url}${path}`, events: [] };
  return { id, secret: must(await world.store.webhookEndpoints.create(created, 20, ACTOR), 'the secret') };
}

async function canceledRender(accountId: string, request = REQUEST): Promise<string> {
  const { id } = await accepted(accountId, { request });
  await world.store.renders.cancel({ accountId }, id);
  return id;
}

const deliveriesOf = async (accountId: string) => await world.store.webhookDeliveries.list(accountId, { limit: 50 });

it('the runner sends the event of a render to an endpoint and to the URL of the request, each signed with its own secret', async () => {
  const accountId = await world.account();
  const { secret } = await endpoint(accountId, '/endpoint');
  const fields = [{ name: 'webhook_url', value: `${receiver.url}/request` }];
  const renderId = await canceledRender(accountId, JSON.stringify({ isJson: true, fields }));
  startRunner();
  await until(() => receiver.received.length === 2);
  const [own] = await world.store.webhookEndpoints.accountSecrets(accountId);
  const events = ['/endpoint', '/request'].map((path, index) => {
    const { body, headers } = must(
      receiver.received.find((one) => one.path === path),
      'the webhook',
    );
    const verified = new Webhook(index === 0 ? secret : must(own, 'the secret').secret);
    return { id: headers['webhook-id'], event: verified.verify(body, headers as Record<string, string>) };
  });
  expect(events[0]).toEqual(events[1]);
  expect(events[0]?.event).toMatchObject({ type: 'render.canceled', data: { id: renderId, status: 'canceled' } });
  await until(async () => (await deliveriesOf(accountId)).every(({ status }) => status === 'succeeded'));
});

it('the runner sends one event for a batch, with its renders, after the last of them', async () => {
  const accountId = await world.account();
  await endpoint(accountId, '/endpoint');
  const batchId = randomUUID();
  const jobs = [
    await newRender(accountId, { batchId, request: REQUEST }),
    await newRender(accountId, { batchId, request: REQUEST }),
  ];
  const batch = { id: batchId, accountId, keyId: undefined, mode: 'live' } as const;
  await world.store.renders.accept(jobs, { ...OPTIONS, batch });
  for (const { id } of jobs) await world.store.renders.cancel({ accountId }, id);
  startRunner();
  startRunner(await world.server('there/2/b'));
  await until(() => receiver.received.length === 3);
  const events = receiver.received.map(
    ({ body }) => JSON.parse(body) as { type: string; data: { renders?: object[] } },
  );
  expect(events.map(({ type }) => type).toSorted()).toEqual(['batch.completed', 'render.canceled', 'render.canceled']);
  const completed = events.find(({ type }) => type === 'batch.completed');
  expect(completed?.data).toMatchObject({ id: batchId, status: 'completed', canceled: 2 });
  expect(completed?.data.renders).toHaveLength(2);
});

it('the runner keeps to the retry schedule across restarts, then gives up, and sends the same webhook each time', async () => {
  const accountId = await world.account();
  await endpoint(accountId, '/switch');
  await canceledRender(accountId);
  const delays = [1, 5_000, 300_000, 1_800_000, 2 * HOUR, 5 * HOUR, 10 * HOUR];
  for (const [attempts, delayMs] of delays.entries()) {
    // A new server each time knows only the state of the database.
    const server = await world.server(`there/${attempts}/b`);
    world.pass(delayMs - 1);
    expect(await server.webhookDeliveries.claim(1)).toEqual([]);
    world.pass(1);
    const runner = startRunner(server);
    await until(async () => (await deliveriesOf(accountId))[0]?.attempts === attempts + 1);
    await runner.stop(0);
  }
  const [delivery] = await deliveriesOf(accountId);
  expect(delivery).toMatchObject({ status: 'failed', attempts: 7, lastStatus: 500 });
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  expect(receiver.received).toHaveLength(7);
  world.pass(DAY);
  expect(await world.store.webhookDeliveries.claim(1)).toEqual([]);
  const text = await metrics.text();
  expect(text).toMatch(/storybar_webhook_attempts_total\{result="retried"\} 6/u);
  expect(text).toMatch(/storybar_webhook_attempts_total\{result="given_up"\} 1/u);
});

it('disables an endpoint that responds with 410, and sends nothing more to it', async () => {
  const accountId = await world.account();
  const { id } = await endpoint(accountId, '/410');
  await canceledRender(accountId);
  const runner = startRunner();
  await until(async () => (await world.store.webhookEndpoints.find(accountId, id))?.disabledReason === 'gone');
  await canceledRender(accountId);
  await until(async () => (await world.store.renders.events.pending(1)).length === 0);
  await runner.stop(0);
  expect(receiver.received).toHaveLength(1);
  expect((await deliveriesOf(accountId)).map(({ status }) => status)).toEqual(['failed']);
});

it('the runner delivers to other accounts while a receiver is slow, and gives back what it was sending when it stops', async () => {
  const [slow, quick] = [await world.account(), await world.account()];
  await endpoint(slow, '/silent');
  await endpoint(quick, '/endpoint');
  for (let index = 0; index < 10; index += 1) await canceledRender(slow);
  // The slow receiver has four of the five slots.
  const runner = startRunner(world.store, { maxSending: 5 });
  await until(() => receiver.received.filter(({ path }) => path === '/silent').length === 4);
  for (let index = 0; index < 3; index += 1) await canceledRender(quick);
  await until(async () => (await deliveriesOf(quick)).filter(({ status }) => status === 'succeeded').length === 3);
  expect(receiver.received.filter(({ path }) => path === '/silent')).toHaveLength(4);
  await runner.stop(0);
  const waiting = await deliveriesOf(slow);
  expect(waiting.map(({ status, attempts }) => `${status} ${attempts}`)).toEqual(
    Array.from({ length: 10 }, () => 'pending 0'),
  );
  expect(await world.store.webhookDeliveries.claim(1)).toHaveLength(1);
});

it('the runner sends a webhook again when its server died after sending and before writing', async () => {
  const accountId = await world.account();
  await endpoint(accountId, '/endpoint');
  await canceledRender(accountId);
  const dead = await world.server('there/2/b');
  vi.spyOn(dead.webhookDeliveries, 'endAttempt').mockRejectedValue(new Error('crashed'));
  const crash = startRunner(dead);
  await until(() => receiver.received.length === 1);
  await crash.stop(0);
  startRunner();
  world.pass(61_000);
  await until(async () => (await deliveriesOf(accountId))[0]?.status === 'succeeded');
  expect(receiver.received).toHaveLength(2);
  expect(receiver.received[0]?.headers['webhook-id']).toBe(receiver.received[1]?.headers['webhook-id']);
});

it('drops an event that cannot be described, and publishes those behind it', async () => {
  const accountId = await world.account();
  await endpoint(accountId, '/endpoint');
  await canceledRender(accountId, 'not JSON');
  world.pass(1);
  const good = await canceledRender(accountId);
  world.pass(1);
  const deleted = await canceledRender(accountId);
  await world.store.renders.remove({ accountId }, deleted);
  startRunner();
  await until(async () => (await world.store.renders.events.pending(10)).length === 0);
  await until(() => receiver.received.length === 1);
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ data: { id: good } });
});
