// The front's entry point for workers, tried by somebody who is not one, or is a bad one.

import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InternalListener } from '../../src/dispatch/remote/api-server/internal-listener.ts';
import { RenderSession } from '../../src/dispatch/remote/api-server/session.ts';
import { Tokens } from '../../src/dispatch/remote/shared/tokens.ts';
import { FACTS_HEADER, HASH_TRAILER, type ControlMessage } from '../../src/dispatch/remote/shared/wire.ts';
import { createAsset } from '../../src/media/asset.ts';
import { until } from '../running-server.ts';

const MAX_BYTES = 1_000;
const FACTS = { width: 1, height: 1, bars: [], missingGlyphs: 0, timings: {} };
const RECIPE = { kind: 'transparent', canvas: { width: 1, height: 1 }, overlays: [], attemptMs: 1_000 } as const;
const never = new AbortController().signal;

let directory: string;
let listener: InternalListener;
let port: number;
let session: RenderSession;
let generations: number[];
const tokens = new Tokens();
const inAMinute = (): number => Date.now() + 60_000;

beforeEach(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'storybar-listener-'));
  const asset = path.join(directory, 'asset');
  writeFileSync(asset, 'the asset');
  generations = [];
  session = new RenderSession('image', createAsset({ path: asset, format: 'png', bytes: 9 }), {
    issue: async ({ generation }) => {
      generations.push(generation);
      return () => undefined;
    },
    attemptToken: ({ id }, number) => tokens.issue({ purpose: 'attempt', session: id, number }, inAMinute()),
    onClaimed: () => undefined,
    onLost: () => undefined,
  });
  listener = new InternalListener({
    tokens,
    find: (id) => (id === session.id ? session : undefined),
    outputOf: () => ({ file: path.join(directory, 'output'), maxBytes: MAX_BYTES }),
    onError: (error) => {
      throw error;
    },
  });
  port = await listener.listen(0, '127.0.0.1');
});
afterEach(async () => {
  session.end();
  await listener.close();
  rmSync(directory, { recursive: true, force: true });
});

interface CallOptions {
  readonly method: string;
  readonly path: string;
  readonly token?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
  readonly trailers?: Record<string, string>;
}

async function call({ method, path: url, token = '', headers, body, trailers }: CallOptions): Promise<IncomingMessage> {
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

const status = async (options: CallOptions): Promise<number | undefined> => (await call(options)).statusCode;
const ticketToken = (number: number): string =>
  tokens.issue({ purpose: 'ticket', session: session.id, number }, inAMinute());

/** Takes up a ticket as a worker does. */
async function join(generation = 1, headers: Record<string, string> = {}) {
  const response = await call({
    method: 'POST',
    path: `/sessions/${session.id}/tickets/${generation}`,
    token: ticketToken(generation),
    headers,
  });
  const lines: ControlMessage[] = [];
  response.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter(Boolean)) lines.push(JSON.parse(line) as ControlMessage);
  });
  response.on('error', () => undefined);
  if (response.statusCode === 200) await until(() => lines.length > 0);
  const [first] = lines;
  const { attempt, token } = first?.type === 'step' ? first : { attempt: 0, token: '' };
  return { status: response.statusCode, lines, attempt, token, leave: () => response.destroy() };
}

function put(attempt: number, token: string, body: Buffer, hash = createHash('sha256').update(body).digest('hex')) {
  return status({
    method: 'PUT',
    path: `/sessions/${session.id}/attempts/${attempt}/output`,
    token,
    headers: { [FACTS_HEADER]: Buffer.from(JSON.stringify(FACTS)).toString('base64url'), trailer: HASH_TRAILER },
    body,
    trailers: { [HASH_TRAILER]: hash },
  });
}

function perform(): Promise<unknown> {
  const result = session.perform(
    { step: { type: 'render', asset: undefined, recipe: RECIPE }, limitMs: 60_000 },
    never,
  );
  result.catch(() => undefined);
  return result;
}

describe('the internal listener', () => {
  it('lets nobody in without a token for exactly that', async () => {
    void perform();
    const { attempt, token } = await join();
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

  it('hands out the asset with its hash behind it', async () => {
    void perform();
    const { attempt, token } = await join();
    const response = await call({ method: 'GET', path: `/sessions/${session.id}/attempts/${attempt}/asset`, token });
    let body = '';
    for await (const chunk of response.setEncoding('utf8')) body += chunk;
    expect(body).toBe('the asset');
    expect(response.trailers[HASH_TRAILER]).toBe(createHash('sha256').update(body).digest('hex'));
  });

  it('hands out segments end to end, to whoever is to join them', async () => {
    void perform();
    const nobody = await join();
    const of = (attempt: number): string => `/sessions/${session.id}/attempts/${attempt}/segments`;
    expect(await status({ method: 'GET', path: of(nobody.attempt), token: nobody.token })).toBe(404);
    expect(session.succeed(nobody.attempt, FACTS)).toBe(true);
    const segments = ['one', 'two'].map((name) => path.join(directory, name));
    for (const file of segments) writeFileSync(file, `${path.basename(file)};`);
    const step = { type: 'render', asset: undefined, recipe: RECIPE, segments: { bytes: 8 } } as const;
    session.perform({ step, limitMs: 60_000, segments }, never).catch(() => undefined);
    const response = await call({ method: 'GET', path: of(nobody.attempt), token: nobody.token });
    let body = '';
    for await (const chunk of response.setEncoding('utf8')) body += chunk;
    expect(body).toBe('one;two;');
    expect(response.trailers[HASH_TRAILER]).toBe(createHash('sha256').update(body).digest('hex'));
  });

  it('takes the first whole result and refuses every later one', async () => {
    const result = perform();
    const first = await join();
    const second = await join(1, { 'storybar-redelivered': '1' });
    expect([first.attempt, second.attempt]).toEqual([1, 2]);
    expect(await put(2, second.token, Buffer.from('second'))).toBe(204);
    expect(await result).toEqual(FACTS);
    expect(await put(1, first.token, Buffer.from('first'))).toBe(409);
    expect(readFileSync(path.join(directory, 'output'), 'utf8')).toBe('second');
    await until(() => first.lines.at(-1)?.type === 'end');
    session.end();
    expect(await put(2, second.token, Buffer.from('again'))).toBe(410);
    expect(readFileSync(path.join(directory, 'output'), 'utf8')).toBe('second');
    expect(readdirSync(directory).toSorted()).toEqual(['asset', 'output']);
  });

  it.each([
    ['changed on the way', Buffer.from('body'), '00'.repeat(32)],
    ['without a hash', Buffer.from('body'), ''],
    ['too large', Buffer.alloc(MAX_BYTES + 1), undefined],
  ])('does not take a result that is %s, and hands the work to somebody else', async (_name, body, hash) => {
    const result = perform();
    const bad = await join();
    expect(await put(bad.attempt, bad.token, body, hash)).toBe(400);
    await until(() => generations.length === 2);
    const good = await join(2);
    expect(await put(good.attempt, good.token, Buffer.from('good'))).toBe(204);
    expect(await result).toEqual(FACTS);
    expect(readdirSync(directory).toSorted()).toEqual(['asset', 'output']);
  });

  it('refuses a ticket twice, an old one and one nobody wants any more', async () => {
    void perform();
    const { leave } = await join();
    expect((await join()).status).toBe(409);
    leave();
    await until(() => generations.length === 2);
    expect((await join(1, { 'storybar-redelivered': '1' })).status).toBe(409);
    session.end();
    expect((await join(2)).status).toBe(410);
  });

  it('does not believe everything', async () => {
    void perform();
    const { attempt, token } = await join();
    const report = (part: string, body: string): Promise<number | undefined> =>
      status({ method: 'POST', path: `/sessions/${session.id}/attempts/${attempt}/${part}`, token, body });
    expect(await report('failure', '{"code":"invalid_api_key","message":"x","again":false}')).toBe(400);
    expect(await report('failure', 'x'.repeat(300_000))).toBe(400);
    // Nobody asked for a probe.
    expect(await report('probe', '{"kind":"image","width":1,"height":1}')).toBe(409);
    expect(session.stepOf(attempt)).toBeDefined();
  });

  it('passes on why a worker could not', async () => {
    const result = perform();
    const { attempt, token } = await join();
    const body = JSON.stringify({ code: 'asset_undecodable', message: 'broken', again: false });
    const sent = { method: 'POST', path: `/sessions/${session.id}/attempts/${attempt}/failure`, token, body };
    expect(await status(sent)).toBe(204);
    await expect(result).rejects.toMatchObject({ code: 'asset_undecodable', message: 'broken' });
  });
});
