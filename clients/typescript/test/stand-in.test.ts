// Against the stand-in: errors that pass.

import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { StorybarApiError, StorybarTimeoutError } from '@storybar/client';
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
