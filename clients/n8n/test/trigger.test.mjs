// The trigger: its hooks run with n8n's own context against the stand-in, which then sends a real webhook.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import { additionalDataFor, setting, workflowWith } from './engine.mjs';

const require = createRequire(import.meta.url);
const { HookContext } = require('n8n-core');
const { StorybarTrigger } = require('../dist/nodes/StorybarTrigger/StorybarTrigger.node.js');

const standIn = { url: setting('STORYBAR_STAND_IN_URL'), apiKey: 'sb_live_stand_in' };
const trigger = new StorybarTrigger();
const { checkExists, create, delete: remove } = trigger.webhookMethods.default;

let receive;
const server = createServer((request, response) => {
  const chunks = [];
  request
    .on('data', (chunk) => chunks.push(chunk))
    .on('end', () => {
      response.end();
      receive({ headers: request.headers, rawBody: Buffer.concat(chunks) });
    });
});
await new Promise((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
after(() => server.close());
const webhookBaseUrl = `http://127.0.0.1:${server.address().port}/`;

function hookContext(workflow) {
  const additionalData = { ...additionalDataFor(standIn), webhookBaseUrl };
  const webhookData = { webhookDescription: trigger.description.webhooks[0], path: 'webhook' };
  return new HookContext(workflow, workflow.getNode('Storybar'), additionalData, 'trigger', 'activate', webhookData);
}

/** What n8n gives to the node when a request arrives at its webhook. */
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

  const received = new Promise((resolve) => {
    receive = resolve;
  });
  const headers = { 'x-api-key': standIn.apiKey, 'content-type': 'application/json', prefer: 'respond-async' };
  const body = JSON.stringify({ text: 'announce', width: 16, height: 16 });
  const { id } = await (await fetch(`${standIn.url}/v1/overlay`, { method: 'POST', headers, body })).json();
  const delivery = await received;

  const accepted = webhookContext(workflow, delivery);
  const { workflowData } = await trigger.webhook.call(accepted);
  assert.equal(workflowData[0][0].json.type, 'render.succeeded');
  assert.equal(workflowData[0][0].json.data.id, id);

  const forgeries = [
    { ...delivery, rawBody: Buffer.from(delivery.rawBody.toString().replace('succeeded', 'failed')) },
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

test('removes a registration that the server no longer knows', async () => {
  const staticData = { 'node:Storybar': { endpointId: 'gone', secret: 'whsec_AAAA' } };
  const workflow = workflowWith({ events: ['render.succeeded'] }, { type: 'storybarTrigger', staticData });
  assert.equal(await remove.call(hookContext(workflow)), true);
  assert.equal(workflow.getStaticData('node', workflow.getNode('Storybar')).endpointId, undefined);
});
