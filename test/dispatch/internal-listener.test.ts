// Requests to the API server's internal listener from workers, from compromised workers and from others.

import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InternalListener } from '../../src/service/dispatch/remote/api-server/internal-listener.ts';
import { type LostAttempt, RenderSession } from '../../src/service/dispatch/remote/api-server/session.ts';
import { Tokens } from '../../src/service/dispatch/remote/shared/tokens.ts';
import type { ControlMessage } from '../../src/service/dispatch/remote/shared/control-messages.ts';
import { FACTS_HEADER, HASH_TRAILER } from '../../src/service/dispatch/remote/shared/wire.ts';
import { createAsset } from '../../src/engine/media/asset.ts';
import { DEFAULT_IMAGE_LIMITS } from '../../src/engine/render/recipe.ts';
import { DEFAULT_VIDEO_LIMITS } from '../../src/engine/render/video-recipe.ts';
import { until } from '../running-server.ts';
import { VIDEO_PROBE } from './sample-reports.ts';

const MAX_BYTES = 1_000;
const FACTS = { width: 1, height: 1, bars: [], missingGlyphs: 0, warnings: [], timings: {} };
const RECIPE = {
  kind: 'transparent',
  canvas: { width: 1, height: 1 },
  overlays: [],
  output: { format: 'png' },
} as const;
const never = new AbortController().signal;

let directory: string;
let listener: InternalListener;
let port: number;
let session: RenderSession;
let generations: number[];
let lost: LostAttempt[];
const tokens = new Tokens();
const inAMinute = (): number => Date.now() + 60_000;

beforeEach(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'storybar-listener-'));
  const asset = path.join(directory, 'asset');
  writeFileSync(asset, 'the asset');
  generations = [];
  lost = [];
  session = new RenderSession('video', createAsset({ path: asset, format: 'mp4', bytes: 9 }), {
    issue: async ({ generation }) => {
      generations.push(generation);
      return () => undefined;
    },
    attemptToken: ({ id }, number) => tokens.issue({ purpose: 'attempt', session: id, number }, inAMinute()),
    onClaimed: () => undefined,
    onAttemptLost: (_session, attempt) => lost.push(attempt),
  });
  listener = new InternalListener({
    tokens,
    findSession: (id) => (id === session.id ? session : undefined),
    outputOf: () => ({ file: path.join(directory, 'output'), maxBytes: MAX_BYTES }),
    onError: (error) => {
      throw error;
    },
  });
  port = await listener.listen(0, '127.0.0.1');
});
afterEach(async () => {
  session.close();
  await listener.close();
  rmSync(directory, { recursive: true, force: true });
});

interface RequestOptions {
  readonly method: string;
  readonly path: string;
  readonly token?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
  readonly trailers?: Record<string, string>;
}

async function send({
  method,
  path: url,
  token = '',
  headers,
  body,
  trailers,
}: RequestOptions): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    const sent = request(
      { port, method, path: url, headers: { authorization: `Bearer ${token}`, ...headers } },
      resolve,
    );
    sent.on('error', reject);
    if (body !== undefined) sent.write(body);
    if (trailers) sent.addTrailers(trailers);
    sent.end();
  });
}

const status = async (options: RequestOptions): Promise<number | undefined> => (await send(options)).statusCode;
const ticketToken = (number: number): string =>
  tokens.issue({ purpose: 'ticket', session: session.id, number }, inAMinute());

/** Claims a ticket as a worker does. */
async function claim(generation = 1, headers: Record<string, string> = {}) {
  const response = await send({
    method: 'POST',
    path: `/sessions/${session.id}/tickets/${generation}`,
    token: ticketToken(generation),
    headers,
  });
  const messages: ControlMessage[] = [];
  response.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter(Boolean)) messages.push(JSON.parse(line) as ControlMessage);
  });
  response.on('error', () => undefined);
  if (response.statusCode === 200) await until(() => messages.length > 0);
  const [first] = messages;
  const { attempt, token } = first?.type === 'step' ? first : { attempt: 0, token: '' };
  return { status: response.statusCode, messages, attempt, token, disconnect: () => response.destroy() };
}

function put(
  attempt: number,
  token: string,
  body: Buffer,
  hash = createHash('sha256').update(body).digest('hex'),
  facts: object = FACTS,
) {
  return status({
    method: 'PUT',
    path: `/sessions/${session.id}/attempts/${attempt}/output`,
    token,
    headers: { [FACTS_HEADER]: Buffer.from(JSON.stringify(facts)).toString('base64url'), trailer: HASH_TRAILER },
    body,
    trailers: { [HASH_TRAILER]: hash },
  });
}

function render(): Promise<unknown> {
  const result = session.render({ step: { type: 'render', asset: undefined, recipe: RECIPE }, limitMs: 60_000 }, never);
  result.catch(() => undefined);
  return result;
}

function probe(): Promise<unknown> {
  const limits = { ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS };
  const step = { type: 'probe', asset: { format: 'mp4', bytes: 9 }, limits } as const;
  const result = session.probe({ step, limitMs: 60_000 }, never);
  result.catch(() => undefined);
  return result;
}

function report(
  { attempt, token }: { readonly attempt: number; readonly token: string },
  part: 'probe' | 'progress' | 'failure',
  body: unknown,
): Promise<number | undefined> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return status({ method: 'POST', path: `/sessions/${session.id}/attempts/${attempt}/${part}`, token, body: text });
}

describe('the internal listener', () => {
  it('the internal listener rejects requests without a token for exactly what they ask for', async () => {
    void render();
    const { attempt, token } = await claim();
    const asset = `/sessions/${session.id}/attempts/${attempt}/asset`;
    expect(await status({ method: 'GET', path: asset })).toBe(401);
    expect(await status({ method: 'GET', path: asset, token: ticketToken(1) })).toBe(401);
    expect(await status({ method: 'GET', path: `/sessions/${session.id}/attempts/2/asset`, token })).toBe(401);
    const expired = tokens.issue({ purpose: 'attempt', session: session.id, number: attempt }, Date.now() - 1);
    expect(await status({ method: 'GET', path: asset, token: expired })).toBe(401);
    expect(await status({ method: 'GET', path: '/', token })).toBe(401);
    expect(await status({ method: 'GET', path: `/sessions/${session.id}/attempts/1/../../asset`, token })).toBe(401);
    expect(await status({ method: 'DELETE', path: asset, token })).toBe(405);
  });

  it('the internal listener sends the asset with its hash in a trailer', async () => {
    void render();
    const { attempt, token } = await claim();
    const response = await send({ method: 'GET', path: `/sessions/${session.id}/attempts/${attempt}/asset`, token });
    let body = '';
    for await (const chunk of response.setEncoding('utf8')) body += chunk;
    expect(body).toBe('the asset');
    expect(response.trailers[HASH_TRAILER]).toBe(createHash('sha256').update(body).digest('hex'));
  });

  it('the internal listener passes on progress only if it was requested and only for the step that runs', async () => {
    const fractions: number[] = [];
    const step = { type: 'render', asset: undefined, recipe: RECIPE } as const;
    const onProgress = (fraction: number): void => void fractions.push(fraction);
    session.render({ step, limitMs: 60_000, onProgress }, never).catch(() => undefined);
    const worker = await claim();
    expect(worker.messages).toMatchObject([{ type: 'step', step: { wantsProgress: true } }]);
    expect(await report(worker, 'progress', { fraction: 0.25 })).toBe(204);
    expect(session.completeRender(worker.attempt, FACTS)).toBe(true);
    expect(await report(worker, 'progress', { fraction: 0.5 })).toBe(409);
    void render();
    expect(await report(worker, 'progress', { fraction: 0.75 })).toBe(204);
    expect(fractions).toEqual([0.25]);
    expect(lost).toEqual([]);
  });

  it.each([{ fraction: 1.1 }, { fraction: -1 }, { fraction: '0.5' }, {}, 'no JSON'])(
    'the internal listener takes the step from a worker that reports %j as progress',
    async (body) => {
      void render();
      expect(await report(await claim(), 'progress', body)).toBe(400);
      expect(lost).toHaveLength(1);
    },
  );

  it('the internal listener sends the attachment of a step', async () => {
    void render();
    const worker = await claim();
    const of = (attempt: number): string => `/sessions/${session.id}/attempts/${attempt}/attachment`;
    expect(await status({ method: 'GET', path: of(worker.attempt), token: worker.token })).toBe(404);
    expect(session.completeRender(worker.attempt, FACTS)).toBe(true);
    const attachment = path.join(directory, 'attachment');
    writeFileSync(attachment, 'letters');
    const step = { type: 'render', asset: undefined, recipe: RECIPE, attachment: { bytes: 7 } } as const;
    session.render({ step, limitMs: 60_000, attachment }, never).catch(() => undefined);
    const response = await send({ method: 'GET', path: of(worker.attempt), token: worker.token });
    let body = '';
    for await (const chunk of response.setEncoding('utf8')) body += chunk;
    expect(body).toBe('letters');
    expect(response.trailers[HASH_TRAILER]).toBe(createHash('sha256').update(body).digest('hex'));
  });

  it('the internal listener accepts the first complete output and rejects every later one', async () => {
    const result = render();
    const first = await claim();
    const second = await claim(1, { 'storybar-redelivered': '1' });
    expect([first.attempt, second.attempt]).toEqual([1, 2]);
    expect(await put(2, second.token, Buffer.from('second'))).toBe(204);
    expect(await result).toEqual(FACTS);
    expect(await put(1, first.token, Buffer.from('first'))).toBe(409);
    expect(readFileSync(path.join(directory, 'output'), 'utf8')).toBe('second');
    await until(() => first.messages.at(-1)?.type === 'end');
    session.close();
    expect(await put(2, second.token, Buffer.from('again'))).toBe(410);
    expect(readFileSync(path.join(directory, 'output'), 'utf8')).toBe('second');
    expect(readdirSync(directory).toSorted()).toEqual(['asset', 'output']);
  });

  it('the internal listener accepts the facts of a render with 500 bars, which are a long header', async () => {
    const overlays = Array.from({ length: 500 }, () => ({ text: 'a', position: 80 }));
    const facts = { ...FACTS, bars: overlays.map((_, index) => ({ top: 1_000 + index, height: 123 })) };
    const recipe = { ...RECIPE, overlays };
    const result = session.render({ step: { type: 'render', asset: undefined, recipe }, limitMs: 60_000 }, never);
    const { attempt, token } = await claim();
    expect(await put(attempt, token, Buffer.from('output'), undefined, facts)).toBe(204);
    expect(await result).toEqual(facts);
  });

  it.each([
    ['corrupted', Buffer.from('body'), '00'.repeat(32)],
    ['without a hash', Buffer.from('body'), ''],
    ['too large', Buffer.alloc(MAX_BYTES + 1), undefined],
  ])('the internal listener rejects an output that is %s and issues another ticket', async (_name, body, hash) => {
    const result = render();
    const bad = await claim();
    expect(await put(bad.attempt, bad.token, body, hash)).toBe(400);
    await until(() => generations.length === 2);
    const good = await claim(2);
    expect(await put(good.attempt, good.token, Buffer.from('good'))).toBe(204);
    expect(await result).toEqual(FACTS);
    expect(readdirSync(directory).toSorted()).toEqual(['asset', 'output']);
  });

  it('the internal listener rejects a ticket that is claimed already, outdated or no longer needed', async () => {
    void render();
    const { disconnect } = await claim();
    expect((await claim()).status).toBe(409);
    disconnect();
    await until(() => generations.length === 2);
    expect((await claim(1, { 'storybar-redelivered': '1' })).status).toBe(409);
    session.close();
    expect((await claim(2)).status).toBe(410);
  });

  it.each([
    [
      'a failure with a code of the server',
      'failure',
      { code: 'invalid_api_key', message: 'x', isRetryable: false },
      'failure.code',
    ],
    ['a failure without a message', 'failure', { isRetryable: true }, 'failure.message'],
  ] as const)(
    'the internal listener takes the attempt from a worker that reports %s',
    async (_what, part, body, field) => {
      void render();
      const worker = await claim(1, { 'storybar-worker': 'liar' });
      expect(await report(worker, part, body)).toBe(400);
      expect(session.stepOf(worker.attempt)).toBeUndefined();
      expect(lost).toEqual([{ worker: 'liar', reason: expect.stringContaining(`invalid ${field}: `) }]);
      await until(() => generations.length === 2);
    },
  );

  it('the internal listener takes the attempt from a worker whose report is too large', async () => {
    void render();
    const worker = await claim();
    expect(await report(worker, 'failure', 'x'.repeat(300_000))).toBe(400);
    expect(lost).toEqual([{ worker: undefined, reason: 'JSON body exceeds 262144 bytes' }]);
  });

  it('the internal listener takes the attempt from a worker whose facts belong to another recipe', async () => {
    void render();
    const { attempt, token } = await claim();
    expect(await put(attempt, token, Buffer.from('x'), undefined, { ...FACTS, width: 2 })).toBe(400);
    expect(lost).toEqual([{ worker: undefined, reason: "invalid facts.width: 2x1 isn't the canvas" }]);
    expect(readdirSync(directory)).toEqual(['asset']);
  });

  it('the internal listener rejects a probe during a render', async () => {
    void render();
    const worker = await claim();
    expect(await report(worker, 'probe', VIDEO_PROBE)).toBe(409);
    expect(session.stepOf(worker.attempt)).toBeDefined();
  });

  it('the internal listener accepts the probe of the asset', async () => {
    const result = probe();
    expect(await report(await claim(), 'probe', VIDEO_PROBE)).toBe(204);
    expect(await result).toEqual(VIDEO_PROBE);
  });

  it.each([
    ['a time base of 1e307', { timeBase: { num: 1, den: 1e307 } }, 'probe.video.timeBase.den'],
    ['an end of 1e12', { end: 1e12 }, 'probe.claimedSeconds'],
    ['a decoder that is not on the allowlist', { decoder: 'exr' }, 'probe.video.decoder'],
  ])('the internal listener takes the attempt from a worker that reports %s', async (_what, changes, field) => {
    const result = probe();
    const liar = await claim();
    expect(await report(liar, 'probe', { ...VIDEO_PROBE, video: { ...VIDEO_PROBE.video, ...changes } })).toBe(400);
    expect(lost).toEqual([{ worker: undefined, reason: expect.stringContaining(`invalid ${field}: `) }]);
    await until(() => generations.length === 2);
    expect(await report(await claim(2), 'probe', VIDEO_PROBE)).toBe(204);
    expect(await result).toEqual(VIDEO_PROBE);
  });

  it('the internal listener fails the step with the error that a worker reports', async () => {
    const result = render();
    const failure = { code: 'asset_undecodable', message: 'broken', isRetryable: false };
    expect(await report(await claim(), 'failure', failure)).toBe(204);
    await expect(result).rejects.toMatchObject({ code: 'asset_undecodable', message: 'broken' });
  });

  it('the internal listener issues another ticket when a worker reports a failure of its own machine', async () => {
    void render();
    const failure = { code: 'storage_unavailable', message: 'disk full', isRetryable: true };
    expect(await report(await claim(), 'failure', failure)).toBe(204);
    await until(() => generations.length === 2);
    expect(lost).toEqual([{ worker: undefined, reason: 'disk full' }]);
  });
});
