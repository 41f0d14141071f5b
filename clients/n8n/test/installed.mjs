// Tests the package as n8n installs it, in a folder with n8n-workflow and nothing else of n8n. It does what the README
// says, against the real service. `npm run test:clients` copies this file next to the installed package and runs it
// there.

import assert from 'node:assert/strict';
import { accessSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const { NodeHelpers } = require('n8n-workflow');
const root = path.dirname(require.resolve('n8n-nodes-storybar/package.json'));
const manifest = require('n8n-nodes-storybar/package.json');
const credentials = { url: process.env.TESTS_URL, apiKey: process.env.TESTS_KEY };

assert.equal(manifest.dependencies, undefined);
const made = Object.fromEntries(
  [...manifest.n8n.nodes, ...manifest.n8n.credentials].map((file) => {
    // n8n expects a class with the name of the file, and icons that exist.
    const name = path.basename(file).split('.')[0];
    const instance = new (require(path.join(root, file))[name])();
    for (const icon of Object.values(instance.icon ?? instance.description.icon)) {
      accessSync(path.resolve(root, path.dirname(file), icon.replace('file:', '')));
    }
    return [name, instance];
  }),
);
const { Storybar, StorybarApi } = made;

/** Returns the context that n8n passes to a node as `this`. */
function contextFor(parameters, { items, continueOnFail = false }) {
  const filled = NodeHelpers.getNodeParameters(Storybar.description.properties, parameters, true, false, null, null);
  return {
    getInputData: () => items,
    getNode: () => ({ id: 'n1', name: 'Storybar', type: 'storybar', typeVersion: 1, position: [0, 0], parameters }),
    getNodeParameter: (name, _item, fallback) => filled[name] ?? fallback,
    getCredentials: async () => credentials,
    getExecutionId: () => crypto.randomUUID(),
    getWorkflowDataProxy: () => ({ $runIndex: 0 }),
    continueOnFail: () => continueOnFail,
    helpers: {
      assertBinaryData: (item, property) => items[item].binary[property],
      getBinaryDataBuffer: async (item, property) => Buffer.from(items[item].binary[property].data, 'base64'),
      prepareBinaryData: async (data, fileName, mimeType) => ({ data: data.toString('base64'), fileName, mimeType }),
      httpRequestWithAuthentication: async (_type, request) => await send(withKey(request)),
      httpRequest: send,
    },
  };
}

/** Adds the key as the credential type says. */
function withKey(request) {
  const key = StorybarApi.authenticate.properties.headers['x-api-key'];
  const value = key.replace('={{$credentials.apiKey}}', credentials.apiKey);
  return { ...request, headers: { ...request.headers, 'x-api-key': value } };
}

async function send({ method, url, headers = {}, body, json }) {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(json && { 'content-type': 'application/json' }) },
    body: json ? JSON.stringify(body) : body,
  });
  const data = Buffer.from(await response.arrayBuffer());
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: data };
}

async function execute(parameters, options) {
  const [results] = await Storybar.execute.call(contextFor(parameters, options));
  return results;
}

const file = (name, mimeType) => ({
  json: {},
  binary: { data: { data: readFileSync(name).toString('base64'), mimeType, fileName: name } },
});

const [image] = await execute(
  { operation: 'captionImage', text: 'Golden hour' },
  { items: [file('photo.jpg', 'image/jpeg')] },
);
assert.equal(image.binary.data.mimeType, 'image/png');
assert.deepEqual(image.pairedItem, { item: 0 });
assert.equal(image.json.creditsCharged, 1);
assert.ok(image.json.creditsRemaining > 0 && image.json.renderId && image.json.warnings.length === 0);

const [video] = await execute(
  { operation: 'captionVideo', text: 'Golden hour' },
  { items: [file('clip.mp4', 'video/mp4')] },
);
assert.equal(video.binary.data.mimeType, 'video/mp4');

const overlays = await execute(
  { operation: 'overlayOnly', text: 'Golden hour', width: 320, height: 200 },
  { items: [{ json: {} }, { json: {} }] },
);
assert.deepEqual(
  overlays.map(({ binary, pairedItem }) => [binary.data.mimeType, pairedItem.item]),
  [
    ['image/png', 0],
    ['image/png', 1],
  ],
);

const [styled] = await execute(
  { operation: 'captionImage', text: 'Golden hour', options: { style: 'box', format: 'jpeg', safeArea: 'all' } },
  { items: [file('photo.jpg', 'image/jpeg')] },
);
assert.equal(styled.binary.data.mimeType, 'image/jpeg');

const [subtitled] = await execute(
  { operation: 'captionVideo', captions: 'subtitles', subtitles: '1\n00:00:00,000 --> 00:00:01,000\nHello\n' },
  { items: [file('clip.mp4', 'video/mp4')] },
);
assert.equal(subtitled.binary.data.mimeType, 'video/mp4');

const [started] = await execute(
  { operation: 'overlayOnly', text: 'Later', width: 320, height: 200, options: { asynchronous: true } },
  { items: [{ json: {} }] },
);
assert.equal(started.binary, undefined);
const [finished] = await execute({ operation: 'getRender', renderId: started.json.id }, { items: [{ json: {} }] });
assert.equal(finished.json.status, 'succeeded');
assert.equal(Buffer.from(finished.binary.data.data, 'base64').length, finished.json.output.bytes);

const [linked] = await execute(
  { operation: 'overlayOnly', text: 'Linked', width: 320, height: 200, options: { link: true } },
  { items: [{ json: {} }] },
);
assert.equal((await fetch(linked.json.output.url)).status, 200);

const [fault] = await execute(
  { operation: 'overlayOnly', text: ' ', width: 5, height: 200 },
  { items: [{ json: {} }], continueOnFail: true },
);
assert.match(fault.json.message, /#\/text: [^]*#\/width: /u);
console.log(
  'ok: the installed n8n package captions images and videos, renders asynchronously and with links, and lists every fault',
);
