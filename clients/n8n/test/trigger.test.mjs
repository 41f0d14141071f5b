// Tests the trigger: its hooks run with n8n's own context against the real service, which then sends webhooks.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import { additionalDataFor, setting, workflowWith } from './engine.mjs';

const require = createRequire(import.meta.url);
const { HookContext } = require('n8n-core');
const { StorybarTrigger } = require('../dist/nodes/StorybarTrigger/StorybarTrigger.node.js');

const service = { url: setting('TESTS_URL'), apiKey: setting('TESTS_KEY') };
const trigger = new StorybarTrigger();
const { checkExists, create, delete: remove } = trigger.webhookMethods.default;

const deliveries = [];
const arrivals = new EventEmitter();
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  response.end();
  deliveries.push({ headers: request.headers, rawBody: Buffer.concat(chunks) });
  arrivals.emit('delivery');
});
await new Promise((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
after(() => server.close());

/** Returns the next webhook of this type. Other tests have the same account. */
async function delivered(isWanted) {
  for (;;) {
    const index = deliveries.findIndex(({ rawBody }) => isWanted(JSON.parse(rawBody.toString())));
    if (index !== -1) return deliveries.splice(index, 1)[0];
    await once(arrivals, 'delivery');
  }
}

async function api(method, path, body) {
  const headers = { 'x-api-key': service.apiKey, 'content-type': 'application/json' };
  const response = await fetch(`${service.url}${path}`, { method, headers, body: body && JSON.stringify(body) });
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  return response.status === 204 ? undefined : await response.json();
}

const endpoints = async () => (await api('GET', '/v1/webhook-endpoints')).endpoints;
const webhookBaseUrl = `http://127.0.0.1:${server.address().port}/`;

function hookContext(workflow) {
  const additionalData = { ...additionalDataFor(service), webhookBaseUrl };
  const webhookData = { webhookDescription: trigger.description.webhooks[0], path: 'webhook' };
  return new HookContext(workflow, workflow.getNode('Storybar'), additionalData, 'trigger', 'activate', webhookData);
}

/** Returns what n8n gives to the node when a request arrives at its webhook. */
function webhookContext(workflow, { headers, rawBody }) {
  const response = { status: (code) => Object.assign(response, { code }), send: () => response, end: () => response };
  return {
    response,
    getWorkflowStaticData: (type) => workflow.getStaticData(type, workflow.getNode('Storybar')),
    getRequestObject: () => ({ headers, rawBody }),
    getResponseObject: () => response,
    getBodyData: () => JSON.parse(rawBody.toString()),
    helpers: { returnJsonArray: (data) => [{ json: data }] },
  };
}

test('registers its webhook, accepts signed webhooks only, and removes its registration', async () => {
  const workflow = workflowWith({ events: ['render.succeeded'] }, { type: 'storybarTrigger', staticData: {} });
  const context = hookContext(workflow);
  assert.equal(await checkExists.call(context), false);
  assert.equal(await create.call(context), true);
  assert.equal(await checkExists.call(context), true);

  const { id } = await api('POST', '/v1/overlay', { text: 'Announce me', width: 64, height: 32, async: true });
  const delivery = await delivered(({ data }) => data.id === id);

  const accepted = webhookContext(workflow, delivery);
  const { workflowData } = await trigger.webhook.call(accepted);
  assert.equal(workflowData[0][0].json.type, 'render.succeeded');
  assert.equal(workflowData[0][0].json.data.id, id);

  const forgeries = [
    { ...delivery, rawBody: Buffer.from(delivery.rawBody.toString().replaceAll('succeeded', 'failed')) },
    { ...delivery, headers: { ...delivery.headers, 'webhook-timestamp': '1614265330' } },
    { ...delivery, headers: {} },
  ];
  for (const forgery of forgeries) {
    const refused = webhookContext(workflow, forgery);
    assert.deepEqual(await trigger.webhook.call(refused), { noWebhookResponse: true });
    assert.equal(refused.response.code, 401);
  }

  assert.equal(await remove.call(context), true);
  assert.equal(await checkExists.call(context), false);
  assert.equal(await remove.call(context), true);
});

test('accepts webhooks after its secret is rotated only if they are still signed with the one it knows', async () => {
  const workflow = workflowWith({ events: ['render.canceled'] }, { type: 'storybarTrigger', staticData: {} });
  const context = hookContext(workflow);
  await create.call(context);
  let { endpointId } = workflow.getStaticData('node', workflow.getNode('Storybar'));
  const codeAfterRotation = async (overlap) => {
    await api('POST', `/v1/webhook-endpoints/${endpointId}/rotate-secret`, { overlap_seconds: overlap });
    await api('POST', `/v1/webhook-endpoints/${endpointId}/test`);
    const received = webhookContext(workflow, await delivered(({ type }) => type === 'webhook.test'));
    await trigger.webhook.call(received);
    return received.response.code;
  };
  assert.equal(await codeAfterRotation(60), undefined);
  await create.call(context);
  endpointId = workflow.getStaticData('node', workflow.getNode('Storybar')).endpointId;
  assert.equal(await codeAfterRotation(0), 401);
  await remove.call(context);
});

test('registers its webhook again when the service has disabled it, and leaves no second one behind', async () => {
  const workflow = workflowWith({ events: ['render.canceled'] }, { type: 'storybarTrigger', staticData: {} });
  const context = hookContext(workflow);
  const countBefore = (await endpoints()).length;
  await create.call(context);
  const { endpointId } = workflow.getStaticData('node', workflow.getNode('Storybar'));
  await api('POST', `/v1/webhook-endpoints/${endpointId}/disable`);
  assert.equal(await checkExists.call(context), false);
  assert.equal(await create.call(context), true);
  assert.equal(await checkExists.call(context), true);
  assert.equal((await endpoints()).length, countBefore + 1);
  await remove.call(context);
  assert.equal((await endpoints()).length, countBefore);
});

test('removes a registration that the server no longer knows', async () => {
  const staticData = { 'node:Storybar': { endpointId: 'gone', secret: 'whsec_AAAA' } };
  const workflow = workflowWith({ events: ['render.succeeded'] }, { type: 'storybarTrigger', staticData });
  assert.equal(await remove.call(hookContext(workflow)), true);
  assert.equal(workflow.getStaticData('node', workflow.getNode('Storybar')).endpointId, undefined);
});
