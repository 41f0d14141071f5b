// Tests the node in n8n's own workflow engine, against the real service. Files for URLs come from the stand-in.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { EXAMPLES, execute, executeAsTool, setting, Storybar } from './engine.mjs';

const FONT = path.resolve(
  import.meta.dirname,
  '../../../node_modules/@expo-google-fonts/bangers/400Regular/Bangers_400Regular.ttf',
);
const service = { url: setting('TESTS_URL'), apiKey: setting('TESTS_KEY') };
const FILES = `${setting('STORYBAR_STAND_IN_URL')}/files`;

function fileItem(name, mimeType) {
  const data = readFileSync(path.join(EXAMPLES, name)).toString('base64');
  return { json: { name }, binary: { photo: { data, mimeType, fileName: name } } };
}

/** What n8n gives to the methods that fill the lists of a form. */
function formContext() {
  return {
    getNode: () => ({ name: 'Storybar' }),
    getCredentials: async () => service,
    helpers: {
      httpRequestWithAuthentication: async (_type, { method, url }) => {
        const response = await fetch(url, { method, headers: { 'x-api-key': service.apiKey } });
        return { statusCode: response.status, headers: {}, body: Buffer.from(await response.arrayBuffer()) };
      },
    },
  };
}

const bytesOf = (binary) => Buffer.from(binary.data, 'base64');

test('captions the binary file of each item and pairs the results with their items', async () => {
  const items = [fileItem('photo.jpg', 'image/jpeg'), fileItem('city.jpg', 'image/jpeg')];
  const parameters = {
    operation: 'captionImage',
    binaryPropertyName: 'photo',
    text: '={{ $json.name }}',
    outputPropertyName: 'captioned',
  };
  const { error, items: results } = await execute(parameters, { credentials: service, items });
  assert.equal(error, undefined);
  assert.deepEqual(
    results.map(({ pairedItem }) => pairedItem),
    [{ item: 0 }, { item: 1 }],
  );
  for (const { json, binary } of results) {
    assert.equal(binary.captioned.mimeType, 'image/png');
    assert.equal(binary.captioned.fileName, `${json.renderId}.png`);
    assert.equal(bytesOf(binary.captioned).subarray(1, 4).toString(), 'PNG');
    assert.equal(json.creditsCharged, 1);
  }
  assert.notDeepEqual(bytesOf(results[0].binary.captioned), bytesOf(results[1].binary.captioned));
});

test('captions an image from a URL, and a video', async () => {
  const assetUrl = `${FILES}/photo.jpg`;
  const overlays = {
    overlay: [
      { text: 'Top', position: 0 },
      { text: 'Anywhere', position: -1 },
    ],
  };
  const image = await execute(
    { operation: 'captionImage', source: 'url', assetUrl, captions: 'overlays', overlays },
    { credentials: service, items: [{ json: {} }] },
  );
  assert.equal(image.items[0].binary.data.mimeType, 'image/png');
  const video = await execute(
    { operation: 'captionVideo', binaryPropertyName: 'photo', text: 'Wait for it' },
    { credentials: service, items: [fileItem('clip.mp4', 'video/mp4')] },
  );
  assert.equal(video.items[0].json.sourceType, 'video');
  assert.equal(bytesOf(video.items[0].binary.data).subarray(4, 8).toString(), 'ftyp');
});

test('renders captions alone', async () => {
  const parameters = {
    operation: 'overlayOnly',
    width: 320,
    height: 200,
    text: 'Alone',
    options: { lang: 'en', strict: true },
  };
  const { items } = await execute(parameters, { credentials: service, items: [{ json: {} }] });
  const png = bytesOf(items[0].binary.data);
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [320, 200]);
});

test('a render is charged once when n8n retries the node in the same execution', async () => {
  const parameters = { operation: 'overlayOnly', width: 320, height: 200, text: 'Once' };
  const options = { credentials: service, items: [{ json: {} }], executionId: crypto.randomUUID() };
  const first = await execute(parameters, options);
  const second = await execute(parameters, options);
  assert.equal(first.items[0].json.creditsCharged, 1);
  assert.equal(second.items[0].json.creditsCharged, 0);
});

test('stops with every fault of a request that the service refuses', async () => {
  const overlays = {
    overlay: [
      { text: '', position: 5 },
      { text: 'x'.repeat(181), position: 5 },
    ],
  };
  const parameters = { operation: 'overlayOnly', width: 320, height: 200, captions: 'overlays', overlays };
  const { error } = await execute(parameters, { credentials: service, items: [{ json: {} }] });
  assert.equal(error.httpCode, '400');
  assert.match(error.description, /invalid_fields\n#\/overlays\/0\/text: .*\n#\/overlays\/1\/text: /u);
  assert.equal(error.context.itemIndex, 0);
});

test('goes on with the other items when the workflow says so', async () => {
  const items = [{ json: { text: ' ' } }, { json: { text: 'Fine' } }];
  const parameters = { operation: 'overlayOnly', width: 320, height: 200, text: '={{ $json.text }}' };
  const { error, items: results } = await execute(parameters, {
    credentials: service,
    items,
    onError: 'continueRegularOutput',
  });
  assert.equal(error, undefined);
  assert.match(results[0].json.message, /#\/text|invalid_fields/u);
  assert.deepEqual(results[0].pairedItem, { item: 0 });
  assert.equal(results[1].binary.data.mimeType, 'image/png');
});

test('reports a refused key', async () => {
  const credentials = { ...service, apiKey: 'sb_live_wrong' };
  const parameters = { operation: 'overlayOnly', width: 320, height: 200, text: 'Secret' };
  const { error } = await execute(parameters, { credentials, items: [{ json: {} }] });
  assert.equal(error.httpCode, '401');
  assert.match(error.description, /invalid_api_key/u);
});

test('sends items that fail to the error output, with the data they came from', async () => {
  const items = [{ json: { text: ' ' } }, { json: { text: 'Fine' } }];
  const parameters = { operation: 'overlayOnly', width: 320, height: 200, text: '={{ $json.text }}' };
  const { items: results, failed } = await execute(parameters, {
    credentials: service,
    items,
    onError: 'continueErrorOutput',
  });
  assert.deepEqual(
    results.map(({ pairedItem }) => pairedItem),
    [{ item: 1 }],
  );
  assert.deepEqual(
    failed.map(({ pairedItem }) => pairedItem),
    [{ item: 0 }],
  );
  assert.equal(failed[0].json.text, ' ');
  assert.match(failed[0].json.message, /#\/text/u);
});

test('the node is a tool for agents, which gets links and learns what is wrong with a request', async () => {
  const parameters = {
    operation: 'captionImage',
    source: 'url',
    assetUrl: "={{ $fromAI('url', 'Image') }}",
    text: "={{ $fromAI('text', 'Caption') }}",
    options: { link: true },
  };
  const url = `${FILES}/photo.jpg`;
  const { fields, results } = await executeAsTool(parameters, {
    credentials: service,
    allArguments: [
      { url, text: 'First' },
      { url, text: 'Second' },
      { url, text: ' ' },
    ],
  });
  assert.deepEqual(fields, ['url', 'text']);
  const links = results.slice(0, 2).map((result) => JSON.parse(result)[0].output.url);
  assert.equal(new Set(links).size, 2);
  for (const link of links) assert.equal((await fetch(link)).headers.get('content-type'), 'image/png');
  assert.match(results[2], /#\/text/u);
});

test('renders different captions in the same run, as an agent may ask for', async () => {
  const executionId = crypto.randomUUID();
  for (const text of ['First', 'Second']) {
    const parameters = { operation: 'overlayOnly', width: 320, height: 200, text };
    const { error, items } = await execute(parameters, { credentials: service, items: [{ json: {} }], executionId });
    assert.equal(error, undefined);
    assert.equal(items[0].json.creditsCharged, 1);
  }
});

test('returns a link instead of the file', async () => {
  const parameters = { operation: 'captionImage', source: 'url', assetUrl: `${FILES}/photo.jpg`, text: 'Link' };
  const { items } = await execute(
    { ...parameters, options: { link: true } },
    { credentials: service, items: [{ json: {} }] },
  );
  const [{ json, binary }] = items;
  assert.equal(binary, undefined);
  const file = await fetch(json.output.url);
  assert.equal((await file.arrayBuffer()).byteLength, json.output.bytes);
});

async function startAsynchronous(parameters) {
  const started = await execute(
    { operation: 'captionImage', source: 'url', text: 'Later', options: { asynchronous: true }, ...parameters },
    { credentials: service, items: [{ json: {} }] },
  );
  return started.items[0];
}

async function getRender(id, parameters = {}) {
  return await execute(
    { operation: 'getRender', renderId: '={{ $json.id }}', ...parameters },
    { credentials: service, items: [{ json: { id } }] },
  );
}

test('starts an asynchronous render, then gets it with its file', async () => {
  const { json, binary } = await startAsynchronous({ assetUrl: `${FILES}/photo.jpg` });
  assert.equal(json.status, 'queued');
  assert.equal(binary, undefined);
  const { items } = await getRender(json.id);
  assert.equal(items[0].json.status, 'succeeded');
  assert.equal(items[0].binary.data.fileName, `${json.id}.png`);
  assert.equal(bytesOf(items[0].binary.data).length, items[0].json.output.bytes);
  const stateOnly = await getRender(json.id, { download: false });
  assert.equal(stateOnly.items[0].binary, undefined);
});

test('gets the state of a render that has not ended', async () => {
  const { json } = await startAsynchronous({ assetUrl: `${FILES}/endless.jpg` });
  const { items } = await getRender(json.id, { waitUntilFinished: false, waitSeconds: 0 });
  assert.ok(['queued', 'rendering'].includes(items[0].json.status));
  assert.equal(items[0].binary, undefined);
  const headers = { 'x-api-key': service.apiKey };
  await fetch(`${service.url}/v1/renders/${json.id}`, { method: 'DELETE', headers });
});

test('stops with the error of an asynchronous render that failed', async () => {
  const { json } = await startAsynchronous({ assetUrl: `${FILES}/broken.jpg` });
  const { error } = await getRender(json.id);
  assert.equal(error.httpCode, '422');
  assert.match(error.description, /asset_undecodable/u);
});

test('lists the saved styles of the account before the presets', async () => {
  const headers = { 'x-api-key': service.apiKey, 'content-type': 'application/json' };
  const style = { method: 'PUT', headers, body: JSON.stringify({ preset: 'box', color: '#ffcc00' }) };
  assert.equal((await fetch(`${service.url}/v1/styles/n8n-brand`, style)).status, 200);
  const options = await new Storybar().methods.loadOptions.getStyles.call(formContext());
  const values = options.map(({ value }) => value);
  assert.ok(values.indexOf('n8n-brand') < values.indexOf('bar'));
  assert.ok(values.indexOf('n8n-brand') >= 0);
});

test('lists the fonts of the account before the others, and draws with one', async () => {
  const body = new FormData();
  body.set('asset', new Blob([readFileSync(FONT)]), 'font.ttf');
  body.set('license_confirmed', 'true');
  const headers = { 'x-api-key': service.apiKey };
  const uploaded = await fetch(`${service.url}/v1/fonts`, { method: 'POST', headers, body });
  assert.equal(uploaded.status, 201);
  const { id } = await uploaded.json();
  const options = await new Storybar().methods.loadOptions.getFonts.call(formContext());
  assert.equal(options.find(({ value }) => value === id)?.name, 'Bangers Regular');
  const values = options.map(({ value }) => value);
  assert.ok(values.indexOf(id) < values.indexOf('bangers'));
  const drawn = async (font) => {
    const parameters = { operation: 'overlayOnly', width: 320, height: 200, text: 'Golden hour', options: { font } };
    const { error, items } = await execute(parameters, { credentials: service, items: [{ json: {} }] });
    assert.equal(error, undefined);
    return bytesOf(items[0].binary.data);
  };
  assert.notDeepEqual(await drawn(id), await drawn('inter'));
});
