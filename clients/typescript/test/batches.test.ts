// Stored renders and batches, against the real service.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Batch,
  type Render,
  StorybarApiError,
  StorybarError,
  StorybarRenderError,
  StorybarTimeoutError,
} from '@storybar/client';
import { CLIP, rejection, service, STAND_IN_URL } from './service.ts';

const SIZE = { width: 64, height: 32 };
/** The file never ends, so its render doesn't either. */
const ENDLESS = { asset_url: `${STAND_IN_URL}/files/endless.jpg`, text: 'Endless' };

test('starts a render, follows its progress and downloads the result', async () => {
  const client = service();
  const sent: number[] = [];
  const render = await client.startRender(
    { asset: CLIP, text: 'Later' },
    { onUploadProgress: ({ loaded }) => sent.push(loaded) },
  );
  assert.ok(sent.length > 0);
  const seen: Render[] = [];
  const finished = await client.waitFor(render, { onProgress: (current) => seen.push(current) });
  assert.deepEqual([seen.at(-1)?.status, seen.at(-1)?.progress], ['succeeded', 1]);
  assert.ok((finished.output.duration ?? 0) > 0);
  const file = await client.download(finished);
  assert.equal(file.contentType, 'video/mp4');
  assert.equal((await file.bytes()).length, finished.output.bytes);
});

test('throws the error of a render that failed, and says when one was canceled', async () => {
  const client = service();
  const broken = await client.startRender({ asset_url: `${STAND_IN_URL}/files/broken.jpg`, text: 'Broken' });
  const failure = await rejection(client.waitFor(broken), StorybarRenderError);
  assert.deepEqual([failure.code, failure.status, failure.renderId], ['asset_undecodable', 422, broken.id]);
  const endless = await client.startRender(ENDLESS);
  assert.equal((await client.cancelRender(endless.id))?.status, 'canceled');
  assert.equal((await rejection(client.waitFor(endless), StorybarRenderError)).code, 'canceled');
});

test('stops waiting for a render after the timeout, and when the caller aborts', async () => {
  const client = service();
  const { id } = await client.startRender(ENDLESS);
  await rejection(client.waitFor(id, { timeoutMs: 0 }), StorybarTimeoutError);
  const controller = new AbortController();
  const reason = new Error('Enough.');
  const waiting = client.waitFor(id, { signal: controller.signal });
  setTimeout(() => controller.abort(reason), 50);
  assert.equal(await rejection(waiting, Error), reason);
  await client.cancelRender(id);
});

test('reports an unknown render', async () => {
  const error = await rejection(service().getRender('unknown/../id'), StorybarApiError);
  assert.equal(error.code, 'render_not_found');
});

test('lists renders in pages, newest first', async () => {
  const client = service();
  const started: string[] = [];
  for (const text of ['one', 'two', 'three']) started.unshift((await client.startRender({ ...SIZE, text })).id);
  // Other tests of the same account add renders at the same time.
  const seen: string[] = [];
  for (let cursor: string | undefined; started.some((id) => !seen.includes(id)); ) {
    const page = await client.listRenders({ limit: 2, cursor });
    assert.ok(page.renders.length <= 2);
    seen.push(...page.renders.map(({ id }) => id));
    assert.ok(page.next_cursor ?? started.every((id) => seen.includes(id)));
    cursor = page.next_cursor ?? undefined;
  }
  assert.deepEqual(
    seen.filter((id) => started.includes(id)),
    started,
  );
  const iterated: string[] = [];
  for await (const { id } of client.renders()) {
    iterated.push(id);
    if (id === started.at(-1)) break;
  }
  assert.deepEqual(
    iterated.filter((id) => started.includes(id)),
    started,
  );
  await rejection(client.listRenders({ limit: 0 }), StorybarApiError);
});

test('keeps a result under a link instead of sending it', async () => {
  const client = service();
  const render = await client.captionToUrl({ ...SIZE, text: 'Linked' });
  assert.deepEqual([render.status, render.output.content_type], ['succeeded', 'image/png']);
  const file = await client.download(render);
  assert.deepEqual([file.renderId, file.creditsCharged, file.sourceType], [render.id, 1, 'image']);
  assert.equal((await file.bytes()).length, render.output.bytes);
});

test('renders many requests and passes on each result with its index', async () => {
  const sizes = new Map<number, number>();
  const requests = [
    { ...SIZE, text: 'one' },
    { text: 'two', asset_url: 'http://127.0.0.1:65533/none.jpg' },
  ] as const;
  await service().captionAll(requests, async ({ index, file, error }) => {
    sizes.set(index, file ? (await file.bytes()).length : -1);
    if (error) assert.equal(error.code, 'asset_unreachable');
  });
  assert.ok((sizes.get(0) ?? 0) > 0);
  assert.equal(sizes.get(1), -1);
});

test('sends a result to a bucket, and keeps no copy to download', async () => {
  const client = service();
  const put_url = `${STAND_IN_URL}/bucket/${crypto.randomUUID()}.png`;
  const { output, ...render } = await client.waitFor(await client.startRender({ ...SIZE, text: 'Sent', put_url }));
  assert.deepEqual([output.url, output.put_status], [null, 200]);
  assert.equal((await (await fetch(put_url)).arrayBuffer()).byteLength, output.bytes);
  assert.match((await rejection(client.download({ ...render, output }), StorybarError)).message, /`put_url`/u);
});

test('refuses to download many results that go to a bucket, before it sends a request', async () => {
  const requests = [{ ...SIZE, text: 'Sent', put_url: `${STAND_IN_URL}/bucket/never.png` }];
  const error = await rejection(
    service().captionAll(requests, () => undefined),
    StorybarError,
  );
  assert.match(error.message, /`startBatch`/u);
  assert.equal((await fetch(`${STAND_IN_URL}/bucket/never.png`)).status, 404);
});

test('renders a batch in the order of its requests, and one that fails does not stop the others', async () => {
  const client = service();
  const idempotencyKey = crypto.randomUUID();
  const requests = [
    { ...SIZE, text: 'one' },
    { text: 'two', asset_url: 'http://127.0.0.1:65533/none.jpg' },
    { width: 128, height: 32, text: 'three' },
  ];
  const batch = await client.startBatch(requests, { idempotencyKey });
  assert.equal(batch.renders.length, 3);
  const seen: Batch['status'][] = [];
  const done = await client.waitForBatch(batch, { onProgress: ({ status }) => seen.push(status) });
  assert.equal(seen.at(-1), 'completed');
  assert.deepEqual(
    done.renders.map(({ status, output }) => [status, output?.width ?? null]),
    [
      ['succeeded', 64],
      ['failed', null],
      ['succeeded', 128],
    ],
  );
  assert.equal((await client.startBatch(requests, { idempotencyKey })).id, batch.id);
  assert.equal(await client.cancelBatch(batch.id), undefined);
  assert.equal((await rejection(client.getBatch(batch.id), StorybarApiError)).code, 'render_not_found');
});

test('refuses a batch with the faults of all its requests, and stops waiting after the timeout', async () => {
  const client = service();
  const bad = [
    { ...SIZE, text: '' },
    { ...SIZE, text: 'fine', position: 101 },
  ];
  const error = await rejection(client.startBatch(bad), StorybarApiError);
  assert.deepEqual(
    error.faults.map(({ pointer }) => pointer),
    ['#/requests/0/text', '#/requests/1/position'],
  );
  const { id, renders } = await client.startBatch(Array.from({ length: 20 }, () => ({ ...SIZE, text: 'many' })));
  assert.equal(renders.length, 20);
  await rejection(client.waitForBatch(id, { timeoutMs: 0 }), StorybarTimeoutError);
  await client.cancelBatch(id);
});

test('deletes a render that has ended', async () => {
  const client = service();
  const { id } = await client.startRender({ ...SIZE, text: 'gone' });
  await client.waitFor(id);
  assert.equal(await client.cancelRender(id), undefined);
  assert.equal((await rejection(client.getRender(id), StorybarApiError)).code, 'render_not_found');
});
