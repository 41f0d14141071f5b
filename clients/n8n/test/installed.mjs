// Tests the package as n8n installs it, in a folder with n8n-workflow and nothing else of n8n. It does what the README
// says, against the real service. `npm run test:clients` copies this file next to the installed package and runs it
// there.

import assert from 'node:assert/strict';
import { accessSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const { NodeHelpers, Workflow } = require('n8n-workflow');
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
function contextFor(parameters, { items, continueOnFail = false, resolve = (value) => value }) {
  const filled = NodeHelpers.getNodeParameters(Storybar.description.properties, parameters, true, false, null, null);
  return {
    getInputData: () => items,
    getNode: () => ({ id: 'n1', name: 'Storybar', type: 'storybar', typeVersion: 1, position: [0, 0], parameters }),
    getNodeParameter: (name, item, fallback) => resolve(filled[name], item) ?? fallback,
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

const upload = new FormData();
upload.set('asset', new Blob([readFileSync('font.ttf')]), 'font.ttf');
upload.set('license_confirmed', 'true');
const uploaded = await fetch(`${credentials.url}/v1/fonts`, {
  method: 'POST',
  headers: { 'x-api-key': credentials.apiKey },
  body: upload,
});
assert.equal(uploaded.status, 201);
const { id: ownFont } = await uploaded.json();
const fonts = await Storybar.methods.loadOptions.getFonts.call(contextFor({}, { items: [] }));
assert.equal(fonts.find(({ value }) => value === ownFont)?.name, 'Bangers Regular');
assert.ok(fonts.some(({ name, value }) => name === 'Bebas Neue' && value === 'bebas-neue'));
const [usual, inOwnFont] = await Promise.all(
  ['inter', ownFont].map(async (font) => {
    const parameters = { operation: 'overlayOnly', text: 'Golden hour', width: 320, height: 200, options: { font } };
    const [{ binary, json }] = await execute(parameters, { items: [{ json: {} }] });
    assert.deepEqual(json.warnings, []);
    return binary.data.data;
  }),
);
assert.notEqual(usual, inOwnFont);

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
const [finished] = await execute(
  { operation: 'getRender', renderId: started.json.id, waitUntilFinished: true },
  { items: [{ json: {} }] },
);
assert.equal(finished.json.status, 'succeeded');
assert.equal(Buffer.from(finished.binary.data.data, 'base64').length, finished.json.output.bytes);

const [linked] = await execute(
  { operation: 'overlayOnly', text: 'Linked', width: 320, height: 200, options: { link: true } },
  { items: [{ json: {} }] },
);
assert.equal((await fetch(linked.json.output.url)).status, 200);

// Positions and times of captions, where subtitles are possible, and captions alone as a video.
const [placed] = await execute(
  { operation: 'previewLayout', text: 'Low', position: 90, width: 320, height: 640 },
  { items: [{ json: {} }] },
);
assert.ok(placed.json.bars[0].y > 500);

const overlay = [
  { text: 'First', position: 20, start: -1, end: 0.5 },
  { text: 'Then', position: -1, start: 0.5, end: -1 },
];
const [timed] = await execute(
  {
    operation: 'overlayVideo',
    captions: 'overlays',
    overlays: { overlay },
    width: 64,
    height: 96,
    duration: 1,
    fps: 10,
  },
  { items: [{ json: {} }] },
);
assert.equal(timed.binary.data.mimeType, 'video/webm');

const choices = (operation) =>
  Storybar.description.properties
    .filter(({ name, displayOptions }) => name === 'captions' && displayOptions.show.operation.includes(operation))
    .flatMap(({ options }) => options.map(({ value }) => value));
assert.deepEqual(choices('captionImage'), ['text', 'overlays']);
assert.deepEqual(choices('captionVideo'), ['text', 'overlays', 'subtitles']);

const [cover] = await execute(
  {
    operation: 'captionVideo',
    text: 'Cover',
    options: { at: 0, format: 'jpeg', fit: 'blur', fitWidth: 90, fitHeight: 160 },
  },
  { items: [file('clip.mp4', 'video/mp4')] },
);
assert.equal(cover.binary.data.mimeType, 'image/jpeg');

/** Runs a workflow of the package. Items of nodes that aren't ours come from the test; expressions are evaluated by n8n. */
async function runWorkflow(name, given) {
  const { nodes, connections } = JSON.parse(readFileSync(path.join(root, 'workflows', `${name}.json`), 'utf8'));
  const nodeTypes = { getByName: typeOf, getByNameAndVersion: typeOf, getKnownTypes: () => ({}) };
  const workflow = new Workflow({ id: name, name, nodes, connections, active: false, nodeTypes, settings: {} });
  const outputs = {};
  let items = [{ json: {} }];
  for (const node of nodes) {
    if (node.type === 'n8n-nodes-storybar.storybar') {
      const input = items;
      const resolve = (value, item) =>
        workflow.expression.getParameterValue(value, null, 0, item, node.name, input, 'manual', {}, undefined);
      items = await execute(node.parameters, { items: input, resolve });
    } else items = given[node.name] ?? items;
    outputs[node.name] = items;
    const [next] = connections[node.name]?.main[0] ?? [];
    assert.equal(next?.node, nodes[nodes.indexOf(node) + 1]?.name);
  }
  return outputs;
}

function typeOf(type) {
  const description = type === 'n8n-nodes-storybar.storybar' ? Storybar.description : { properties: [] };
  return { description };
}

const files = `${process.env.STORYBAR_STAND_IN_URL}/files`;
const bucket = `${process.env.STORYBAR_STAND_IN_URL}/bucket`;
const product = await runWorkflow('caption-product-photo', {
  Product: [{ json: { photo: `${files}/photo.jpg`, caption: 'New: the blue mug' } }],
});
assert.equal(product['Caption the photo'][0].binary.data.mimeType, 'image/jpeg');

const words = [
  { word: 'Hello', start: 0, end: 0.5 },
  { word: 'world', start: 0.5, end: 1 },
];
const reel = {
  video: `${files}/clip.mp4`,
  transcript: JSON.stringify({ words }),
  bucketUrl: `${bucket}/reel.mp4?signature=secret`,
};
const sent = await runWorkflow('reel-with-word-captions', { Reel: [{ json: reel }] });
const [{ json: delivered }] = sent['Wait for the bucket'];
assert.deepEqual([delivered.status, delivered.output.width, delivered.output.height], ['succeeded', 1080, 1920]);
const stored = await fetch(`${bucket}/reel.mp4`);
assert.equal((await stored.arrayBuffer()).byteLength, delivered.output.bytes);

const rows = ['photo.jpg', 'city.jpg'].map((photo) => ({ json: { url: `${files}/${photo}`, caption: photo } }));
const daily = await runWorkflow('daily-batch-from-a-sheet', { 'Rows of the sheet': rows });
assert.deepEqual(
  daily['Get each photo'].map(({ json, binary }) => [json.output.width, json.output.height, binary.data.mimeType]),
  [
    [1080, 1350, 'image/jpeg'],
    [1080, 1350, 'image/jpeg'],
  ],
);

const [fault] = await execute(
  { operation: 'overlayOnly', text: ' ', width: 5, height: 200 },
  { items: [{ json: {} }], continueOnFail: true },
);
assert.match(fault.json.message, /#\/text: [^]*#\/width: /u);
console.log(
  'ok: the installed n8n package captions images and videos, renders asynchronously and with links, runs its workflows, and lists every fault',
);
