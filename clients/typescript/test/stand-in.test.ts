// Tests of temporary errors, against the stand-in.

import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import {
  StorybarApiError,
  StorybarConnectionError,
  StorybarError,
  StorybarTimeoutError,
  type SucceededRender,
} from '@storybar/client';
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

test('tells the caller before each retry why, and how long it waits', async () => {
  const reasons: string[] = [];
  const delays: number[] = [];
  const client = standIn({
    onRetry: ({ message }, delayMs) => {
      reasons.push(message);
      delays.push(delayMs);
    },
  });
  await client.caption({ width: 16, height: 16, text: 'busy twice' });
  assert.deepEqual(reasons, ['Stand-in: overloaded.', 'Stand-in: overloaded.']);
  await client.caption({ width: 16, height: 16, text: 'cut off' });
  assert.match(reasons.at(-1) ?? '', /^Cannot reach http:\/\/127\.0\.0\.1:\d+: .+\.$/u);
  assert.deepEqual(
    delays.map((delay) => delay > 0),
    [false, false, true],
  );
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

const FILE = Buffer.from('the bytes of a result');
const SUCCEEDED = { output: { url: 'https://files.example.com/r1.png' } } as SucceededRender;

/** Returns a response whose connection breaks after some bytes. */
function broken(bytes: Uint8Array, status = 200): Response {
  const chunks = [bytes];
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const chunk = chunks.pop();
    if (chunk === undefined) controller.error(new TypeError('terminated'));
    else controller.enqueue(chunk);
  };
  return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { status });
}

function rangeOf(init: RequestInit | undefined): number {
  return Number(/^bytes=(\d+)-$/u.exec(new Headers(init?.headers).get('range') ?? '')?.[1] ?? 0);
}

test('continues a broken download where it ended, and reports its whole progress', async () => {
  const ranges: number[] = [];
  const loads: number[] = [];
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    const from = rangeOf(init);
    ranges.push(from);
    if (from >= 10) return new Response(FILE.subarray(from), { status: 206 });
    return broken(FILE.subarray(from, from + 5), from === 0 ? 200 : 206);
  };
  const options = { onDownloadProgress: ({ loaded }: { loaded: number }) => void loads.push(loaded) };
  const file = await standIn({ fetch }).download(SUCCEEDED, options);
  assert.deepEqual(Buffer.from(await file.bytes()), FILE);
  assert.deepEqual(
    [ranges, loads],
    [
      [0, 5, 10],
      [5, 10, FILE.length],
    ],
  );
});

test('gives up a broken download after its retries, and at a server that starts from the beginning', async () => {
  for (const [status, requests] of [
    [206, 3],
    [200, 2],
  ] as const) {
    let count = 0;
    const fetch = async (): Promise<Response> => broken(FILE.subarray(0, 5), (count += 1) === 1 ? 200 : status);
    const file = await standIn({ fetch, maxRetries: 2 }).download(SUCCEEDED);
    const error = await rejection(file.bytes(), StorybarConnectionError);
    assert.match(error.message, /broke off after \d+ bytes/u);
    assert.equal(count, requests);
  }
});

test('retries a response that breaks off, and refuses one that is not JSON', async () => {
  let count = 0;
  const fetch = async (): Promise<Response> =>
    (count += 1) === 1 ? broken(Buffer.from('{"id":')) : Response.json({ id: 'r1' });
  assert.equal((await standIn({ fetch }).getRender('r1')).id, 'r1');
  const html = standIn({ fetch: async () => new Response('<html>') });
  assert.match((await rejection(html.getRender('r1'), StorybarError)).message, /something else than JSON/u);
});

test('asks for the state of a render more often when the caller follows its progress', async () => {
  const queries: string[] = [];
  const fetch = async (url: unknown): Promise<Response> => {
    queries.push(new URL(String(url)).search);
    return Response.json({ ...SUCCEEDED, id: 'r1', status: 'succeeded' });
  };
  const client = standIn({ fetch });
  await client.waitFor('r1', { timeoutMs: Infinity });
  await client.waitFor('r1', { timeoutMs: Infinity, onProgress: () => undefined });
  assert.deepEqual(queries, ['?wait=20', '?wait=2']);
});

test('asks for the state of a batch more often when the caller follows its progress', async () => {
  const queries: string[] = [];
  let isCompleted = false;
  const fetch = async (url: unknown): Promise<Response> => {
    const { pathname, search } = new URL(String(url));
    if (pathname.startsWith('/v1/batches')) {
      return Response.json({ id: 'b1', renders: [{ id: 'r1', status: isCompleted ? 'succeeded' : 'rendering' }] });
    }
    queries.push(search);
    isCompleted = true;
    return Response.json({ ...SUCCEEDED, id: 'r1', status: 'succeeded' });
  };
  const client = standIn({ fetch });
  await client.waitForBatch('b1');
  isCompleted = false;
  await client.waitForBatch('b1', { onProgress: () => undefined });
  assert.deepEqual(queries, ['?wait=20', '?wait=2']);
});

test('waits without a limit of its own when the timeout is infinite', async () => {
  const render = await standIn().caption({ width: 16, height: 16, text: 'fine' }, { timeoutMs: Infinity });
  assert.equal(Buffer.from(await render.bytes()).toString(), 'attempt 1');
});

test('refuses a timeout that the fetch of Node.js cannot keep, and names the way that works', async () => {
  const caption = standIn().caption({ width: 16, height: 16, text: 'fine' }, { timeoutMs: 300_001 });
  assert.match((await rejection(caption, StorybarError)).message, /300000 ms.*`startRender` and `waitFor`/u);
});

test('sends the headers of the client and of the request, and returns the id of the request', async () => {
  const seen: Headers[] = [];
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    seen.push(new Headers(init?.headers));
    const headers = { 'x-request-id': `request ${seen.length}` };
    return seen.length === 1 ? new Response('bytes', { headers }) : Response.json({}, { status: 400, headers });
  };
  const client = standIn({ fetch, headers: { 'x-team': 'social', 'x-api-key': 'other' } });
  const render = await client.caption({ text: 'fine' }, { headers: { 'x-post': '7' } });
  assert.equal(render.requestId, 'request 1');
  assert.equal((await rejection(client.usage(), StorybarApiError)).requestId, 'request 2');
  assert.deepEqual(
    seen.map((headers) => [headers.get('x-team'), headers.get('x-post'), headers.get('x-api-key')]),
    [
      ['social', '7', 'sb_live_stand_in'],
      ['social', null, 'sb_live_stand_in'],
    ],
  );
});

test('returns the facts of the render with a downloaded file', async () => {
  const facts = { id: 'r1', source_type: 'video', warnings: ['audio_dropped'], missing_glyphs: 2, credits: 3 };
  const fetch = async (): Promise<Response> => new Response(FILE, { headers: { 'content-type': 'video/mp4' } });
  const file = await standIn({ fetch }).download({ ...SUCCEEDED, ...facts });
  const { renderId, sourceType, warnings, missingGlyphs, creditsCharged, contentType } = file;
  assert.deepEqual(
    { renderId, sourceType, warnings, missingGlyphs, creditsCharged, contentType },
    {
      renderId: 'r1',
      sourceType: 'video',
      warnings: ['audio_dropped'],
      missingGlyphs: 2,
      creditsCharged: 3,
      contentType: 'video/mp4',
    },
  );
});

test('renders more requests than a batch can have, with a bounded number of connections', async () => {
  const batches: number[] = [];
  let open = 0;
  let most = 0;
  const fetch = async (input: unknown, init?: RequestInit): Promise<Response> => {
    const { pathname } = new URL(String(input));
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setTimeout(resolve, 1));
    open -= 1;
    if (pathname === '/v1/batches') {
      const { requests } = JSON.parse(init?.body as string) as { requests: { text: string }[] };
      batches.push(requests.length);
      return Response.json({ renders: requests.map(({ text }) => ({ id: text })) });
    }
    const id = pathname.split('/').at(-1) ?? '';
    if (pathname.startsWith('/v1/results/')) return new Response(`file ${id}`);
    if (id === '7') return Response.json({ id, status: 'failed', output: null, error: { code: 'asset_undecodable' } });
    return Response.json({ id, status: 'succeeded', output: { url: `/v1/results/${id}` }, error: null });
  };
  const requests = Array.from({ length: 205 }, (_, index) => ({ text: String(index) }));
  const results = new Map<number, string>();
  await standIn({ fetch }).captionAll(
    requests,
    async ({ index, file, error }) => {
      results.set(index, file ? Buffer.from(await file.bytes()).toString() : error.code);
    },
    { connections: 3 },
  );
  assert.deepEqual(batches, [100, 100, 5]);
  assert.equal(most, 3);
  assert.equal(results.get(7), 'asset_undecodable');
  assert.deepEqual(
    requests.filter((_, index) => index !== 7 && results.get(index) !== `file ${index}`),
    [],
  );
});

test('stops rendering many requests when one cannot be used', async () => {
  const fetch = async (input: unknown): Promise<Response> => {
    const { pathname } = new URL(String(input));
    if (pathname === '/v1/batches') return Response.json({ renders: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] });
    const id = pathname.split('/').at(-1);
    return Response.json({ id, status: 'succeeded', output: { url: '/v1/results/x' }, error: null });
  };
  const used: number[] = [];
  const all = standIn({ fetch }).captionAll(
    [{ text: 'a' }, { text: 'b' }, { text: 'c' }],
    ({ index }) => {
      used.push(index);
      throw new Error('The disk is full.');
    },
    { connections: 1 },
  );
  assert.equal((await rejection(all, Error)).message, 'The disk is full.');
  assert.deepEqual(used, [0]);
});
