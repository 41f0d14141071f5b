// Against the stand-in: errors that pass, and asynchronous renders.

import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { type Render, StorybarApiError, StorybarRenderError, StorybarTimeoutError } from '@storybar/client';
import { PHOTO, rejection, STAND_IN_URL, standIn } from './service.ts';

interface SeenRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
}

async function seenWith(key: string): Promise<SeenRequest[]> {
  const seen = (await (await fetch(`${STAND_IN_URL}/seen`)).json()) as SeenRequest[];
  return seen.filter(({ headers }) => headers['idempotency-key'] === key);
}

test('retries with one idempotency key until the server has room, and sends the file each time', async () => {
  const render = await standIn().caption({ asset: PHOTO, text: 'busy twice' });
  assert.equal(Buffer.from(await render.bytes()).toString(), 'attempt 3');
  const seen = await seenWith(render.idempotencyKey ?? '');
  const { length } = await readFile(PHOTO);
  assert.equal(seen.length, 3);
  assert.ok(seen.every(({ bytes }) => bytes > length));
  assert.ok(seen.every(({ headers, bytes }) => headers['content-length'] === String(bytes)));
});

test('retries when the connection breaks', async () => {
  const render = await standIn().caption({ width: 16, height: 16, text: 'cut off' });
  assert.equal(Buffer.from(await render.bytes()).toString(), 'attempt 2');
});

test('does not retry a stream, which can be read only once', async () => {
  const idempotencyKey = crypto.randomUUID();
  const asset = createReadStream(PHOTO);
  const error = await rejection(standIn().caption({ asset, text: 'busy twice' }, { idempotencyKey }), StorybarApiError);
  assert.equal(error.code, 'overloaded');
  assert.equal(error.retryAfter, 0);
  assert.equal((await seenWith(idempotencyKey)).length, 1);
});

test('does not wait longer than allowed, nor for credits that are used up', async () => {
  for (const [text, code] of [
    ['busy for a day', 'rate_limited'],
    ['no credits', 'quota_exceeded'],
  ] as const) {
    const idempotencyKey = crypto.randomUUID();
    const caption = standIn().caption({ width: 16, height: 16, text }, { idempotencyKey });
    assert.equal((await rejection(caption, StorybarApiError)).code, code);
    assert.equal((await seenWith(idempotencyKey)).length, 1);
  }
});

test('gives up when no response arrives in time', async () => {
  const caption = standIn({ maxRetries: 0 }).caption({ width: 16, height: 16, text: 'silence' }, { timeoutMs: 50 });
  await rejection(caption, StorybarTimeoutError);
});

test('starts a render, follows its progress and downloads the result', async () => {
  const client = standIn();
  const render = await client.startRender({ asset: PHOTO, text: 'Later' });
  assert.equal(render.status, 'queued');
  const states: Render['status'][] = [];
  const finished = await client.waitFor(render, { onProgress: ({ status }) => states.push(status) });
  assert.deepEqual(states, ['rendering', 'succeeded']);
  const file = await client.download(finished);
  assert.equal(file.contentType, 'image/jpeg');
  assert.equal((await file.bytes()).length, finished.output.bytes);
});

test('throws the error of a render that failed, and says when one was canceled', async () => {
  const client = standIn();
  const failing = await client.startRender({ width: 16, height: 16, text: 'fails' });
  const failure = await rejection(client.waitFor(failing), StorybarRenderError);
  assert.equal(failure.code, 'asset_undecodable');
  assert.equal(failure.status, 422);
  assert.equal(failure.renderId, failing.id);
  const endless = await client.startRender({ width: 16, height: 16, text: 'endless' });
  await client.cancelRender(endless.id);
  assert.equal((await rejection(client.waitFor(endless), StorybarRenderError)).code, 'canceled');
});

test('stops waiting for a render after the timeout, and when the caller aborts', async () => {
  const client = standIn();
  const { id } = await client.startRender({ width: 16, height: 16, text: 'endless' });
  await rejection(client.waitFor(id, { timeoutMs: 0 }), StorybarTimeoutError);
  const controller = new AbortController();
  const reason = new Error('Enough.');
  const waiting = client.waitFor(id, { signal: controller.signal, onProgress: () => controller.abort(reason) });
  assert.equal(await rejection(waiting, Error), reason);
});

test('reports an unknown render', async () => {
  const error = await rejection(standIn().getRender('unknown/../id'), StorybarApiError);
  assert.equal(error.code, 'render_not_found');
});
