// The node in n8n's own workflow engine, against the real service and the stand-in.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { EXAMPLES, execute, setting } from './engine.mjs';

const service = { url: setting('STORYBAR_TEST_URL'), apiKey: setting('STORYBAR_TEST_KEY') };
const standIn = { url: setting('STORYBAR_STAND_IN_URL'), apiKey: 'sb_live_stand_in' };

function fileItem(name, mimeType) {
  const data = readFileSync(path.join(EXAMPLES, name)).toString('base64');
  return { json: { name }, binary: { photo: { data, mimeType, fileName: name } } };
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
  const assetUrl = `${standIn.url}/files/photo.jpg`;
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

test('is charged once when n8n retries the node in the same execution', async () => {
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
  assert.match(results[0].json.description, /#\/text|invalid_fields/u);
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

test('starts an asynchronous render, then gets it with its file', async () => {
  const parameters = {
    operation: 'overlayOnly',
    width: 16,
    height: 16,
    text: 'Later',
    options: { asynchronous: true },
  };
  const started = await execute(parameters, { credentials: standIn, items: [{ json: {} }] });
  const { id, status } = started.items[0].json;
  assert.equal(status, 'queued');
  const get = async () =>
    await execute(
      { operation: 'getRender', renderId: '={{ $json.id }}' },
      { credentials: standIn, items: [{ json: { id } }] },
    );
  const unfinished = await get();
  assert.equal(unfinished.items[0].json.status, 'rendering');
  assert.equal(unfinished.items[0].binary, undefined);
  const finished = await get();
  assert.equal(finished.items[0].json.status, 'succeeded');
  assert.equal(finished.items[0].binary.data.fileName, `${id}.jpg`);
  assert.equal(bytesOf(finished.items[0].binary.data).length, finished.items[0].json.output.bytes);
});

test('stops with the error of an asynchronous render that failed', async () => {
  const parameters = {
    operation: 'overlayOnly',
    width: 16,
    height: 16,
    text: 'fails',
    options: { asynchronous: true },
  };
  const started = await execute(parameters, { credentials: standIn, items: [{ json: {} }] });
  const get = { operation: 'getRender', renderId: started.items[0].json.id };
  await execute(get, { credentials: standIn, items: [{ json: {} }] });
  const { error } = await execute(get, { credentials: standIn, items: [{ json: {} }] });
  assert.equal(error.httpCode, '422');
  assert.match(error.description, /asset_undecodable/u);
});
