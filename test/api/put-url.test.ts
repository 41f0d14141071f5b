// `put_url`: the finished file goes to the caller's own storage.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { type PutReceiver, startPutReceiver } from '../put-receiver.ts';
import { hasSwift, NO_SWIFT, presignPut, readObject, type RunningS3, startSwift } from '../running-s3.ts';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { startWebhookReceiver } from '../webhook-receiver.ts';

interface Render {
  readonly id: string;
  readonly status: string;
  readonly credits: number | null;
  readonly expires_at: string | null;
  readonly output: { readonly url: string | null; readonly bytes: number; readonly put_status: number | null } | null;
  readonly error: { readonly code: string; readonly upstream_status?: number } | null;
}

/** Part of every URL of these tests, and nowhere to be found afterwards. */
const SECRET = 'signature-6f1e0d2c';
const CANVAS = { text: 'Hello', width: '320', height: '240' };
const ASYNC = { headers: { prefer: 'respond-async' } };

let server: RunningServer;
let receiver: PutReceiver;
let photo: Buffer;
beforeAll(async () => {
  [server, receiver, photo] = await Promise.all([
    startServer({ STORYBAR_PUT_ALLOW: '127.0.0.1', STORYBAR_FETCH_ALLOW: '127.0.0.1', STORYBAR_LOG_LEVEL: 'debug' }),
    startPutReceiver(),
    noisyJpeg(400, 300),
  ]);
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

const urlOf = (place: string): string => `${receiver.url}${place}?X-Amz-Signature=${SECRET}`;
const get = async (address: string): Promise<Response> =>
  await fetch(`${server.url}${address}`, { headers: { 'x-api-key': server.key } });
const send = async (fields: Parameters<typeof form>[0], options: Parameters<typeof post>[2] = {}): Promise<Response> =>
  await post(server, form({ ...CANVAS, ...fields }), options);
const renderOf = async (response: Response): Promise<Render> => (await response.json()) as Render;

async function ended(id: string): Promise<Render> {
  return await until(async () => {
    const render = await renderOf(await get(`/v1/renders/${id}?wait=30`));
    return ['succeeded', 'failed', 'canceled'].includes(render.status) && render;
  });
}

async function usedCredits(key = server.key): Promise<number> {
  return await until(async () => {
    const usage = await fetch(`${server.url}/v1/usage`, { headers: { 'x-api-key': key } });
    const { credits } = (await usage.json()) as { credits: { used: number; reserved: number } };
    return credits.reserved === 0 && { used: credits.used };
  }).then(({ used }) => used);
}

/** Every file that the server has written, with its content. */
function* dataFiles(folder = server.dataDirectory): Generator<readonly [string, Buffer]> {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    if (statSync(file).isDirectory()) yield* dataFiles(file);
    else if (statSync(file).isFile()) yield [path.relative(server.dataDirectory, file), readFileSync(file)];
  }
}

const filesWith = (text: string): string[] =>
  [...dataFiles()].filter(([, content]) => content.includes(text)).map(([name]) => name);

describe('a request with put_url', () => {
  it('a request that waits gets its render as JSON when the receiver has the file, and the server keeps none', async () => {
    const before = await usedCredits();
    const headers = JSON.stringify({ 'cache-control': 'max-age=60', 'X-Amz-Meta-Kind': 'cover' });
    const response = await send({ asset: photo, put_url: urlOf('/waits'), put_headers: headers, format: 'png' });
    expect([response.status, response.headers.get('x-credits-charged')]).toEqual([200, '1']);
    const render = await renderOf(response);
    expect(render).toMatchObject({ status: 'succeeded', credits: 1, expires_at: null, error: null });
    expect(render.output).toMatchObject({ url: null, put_status: 200, content_type: 'image/png', width: 400 });
    expect(response.headers.get('location')).toBe(`/v1/renders/${render.id}`);
    const bytes = Buffer.from(await (await send({ asset: photo, format: 'png' })).arrayBuffer());
    expect(receiver.files.get('/waits')?.equals(bytes)).toBe(true);
    expect(receiver.tries.find((one) => one.path === '/waits')?.headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(bytes.length),
      'cache-control': 'max-age=60',
      'x-amz-meta-kind': 'cover',
    });
    await until(() => readdirSync(path.join(server.dataDirectory, 'objects/outputs')).length === 0);
    await until(() => readdirSync(path.join(server.dataDirectory, 'objects/targets')).length === 0);
    expect(await renderOf(await get(`/v1/renders/${render.id}`))).toEqual(render);
    expect(await usedCredits()).toBe(before + 2);
  });

  it('an asynchronous request and every request of a batch are delivered, with a webhook afterwards', async () => {
    const webhooks = await startWebhookReceiver();
    const fields = { asset: photo, put_url: urlOf('/async'), webhook_url: `${webhooks.url}/hook` };
    const accepted = await send(fields, ASYNC);
    expect(accepted.status).toBe(202);
    expect(await ended((await renderOf(accepted)).id)).toMatchObject({
      status: 'succeeded',
      credits: 1,
      output: { url: null, put_status: 200, content_type: 'image/png' },
    });
    expect(receiver.files.has('/async')).toBe(true);
    const [webhook] = await until(() => (webhooks.received.length > 0 ? webhooks.received : undefined));
    expect(JSON.parse(webhook?.body ?? '{}')).toMatchObject({
      type: 'render.succeeded',
      data: { output: { put_status: 200 } },
    });
    await webhooks.stop();
    const item = { text: 'Hi', width: 64, height: 64 };
    const requests = [1, 2, 3].map((n) => ({
      ...item,
      put_url: urlOf(`/batch-${n}`),
      put_headers: { 'x-amz-a': SECRET },
    }));
    const batch = await fetch(`${server.url}/v1/batches`, {
      method: 'POST',
      headers: { 'x-api-key': server.key, 'content-type': 'application/json' },
      body: JSON.stringify({ requests }),
    });
    const { renders } = (await batch.json()) as { renders: readonly Render[] };
    for (const { id } of renders) expect(await ended(id)).toMatchObject({ status: 'succeeded', credits: 1 });
    for (const n of [1, 2, 3]) expect(receiver.files.has(`/batch-${n}`)).toBe(true);
  });

  it('a receiver with temporary trouble gets three tries', async () => {
    const render = await renderOf(await send({ put_url: urlOf('/twice-503') }));
    expect(render).toMatchObject({ status: 'succeeded', credits: 1, output: { put_status: 200 } });
    expect(receiver.triesOf('/twice-503')).toBe(3);
  });

  it('a file that is refused is a 502 without a charge, and nothing of the response but its status is shown', async () => {
    const before = await usedCredits();
    const response = await send({ put_url: urlOf('/refuse-403') });
    expect(response.headers.get('x-credits-charged')).toBe('0');
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ status: 502, code: 'delivery_failed', upstream_status: 403 });
    expect(receiver.triesOf('/refuse-403')).toBe(1);
    const record = await (await get(response.headers.get('location') ?? '')).text();
    expect(JSON.parse(record)).toMatchObject({
      status: 'failed',
      credits: 0,
      output: null,
      error: { upstream_status: 403 },
    });
    for (const text of [JSON.stringify(problem), record])
      expect(text).not.toMatch(/details of the receiver|elsewhere/u);
    expect(await problemOf(await send({ put_url: urlOf('/status-307') }))).toMatchObject({ upstream_status: 307 });
    expect(await usedCredits()).toBe(before);
  });

  it.each([
    ['takes the file and says 501', '/status-501'],
    ['refuses the file before its first byte', '/refuse-403'],
  ])('a receiver that %s gains nothing: after the free broken deliveries it is charged', async (_what, place) => {
    const created = await server.cli('keys', 'create', '--plan', 'business', '--json');
    const { key } = JSON.parse(created) as { key: string };
    const broken = { headers: { 'x-api-key': key } };
    const requests = Array.from(
      { length: 22 },
      async (_, n) => await send({ put_url: urlOf(`${place}-${n}`) }, broken),
    );
    const responses = await Promise.all(requests);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([502]));
    const charged = responses.map(({ headers }) => Number(headers.get('x-credits-charged')));
    expect(charged.toSorted((one, other) => one - other)).toEqual([...Array<number>(20).fill(0), 1, 1]);
    expect(await usedCredits(key)).toBe(2);
  });

  it('a repeated request with the same key and a new signature or token gets the stored JSON, and nothing is sent again', async () => {
    const keyed = { headers: { 'idempotency-key': 'put-1' } };
    const headersOf = (token: string): string => JSON.stringify({ 'x-amz-security-token': token });
    const first = await renderOf(await send({ put_url: urlOf('/once'), put_headers: headersOf('one') }, keyed));
    const other = { put_url: `${receiver.url}/once?X-Amz-Signature=other`, put_headers: headersOf('two') };
    const again = await send(other, keyed);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await renderOf(again)).toEqual(first);
    expect(receiver.triesOf('/once')).toBe(1);
    const asyncAgain = await send({ put_url: urlOf('/once') }, { headers: { ...keyed.headers, ...ASYNC.headers } });
    expect([asyncAgain.status, (await renderOf(asyncAgain)).id]).toEqual([202, first.id]);
    const elsewhere = await send({ put_url: urlOf('/other') }, keyed);
    expect(await problemOf(elsewhere)).toMatchObject({ status: 422, code: 'idempotency_mismatch' });
  });

  it('a key whose file could not be delivered is free for another try', async () => {
    const keyed = { headers: { 'idempotency-key': 'put-2' } };
    expect((await send({ put_url: urlOf('/refuse-410') }, keyed)).status).toBe(502);
    expect((await send({ put_url: urlOf('/refuse-410') }, keyed)).status).toBe(502);
    expect(receiver.triesOf('/refuse-410')).toBe(2);
  });

  it('keys of web pages, addresses that are not public, and deliver are refused with every fault at once', async () => {
    const created = await server.cli('keys', 'create', '--plan', 'pro', '--json');
    const { key, id } = JSON.parse(created) as { key: string; id: string };
    await server.cli('keys', 'origins', id, 'https://shop.example');
    const web = { headers: { 'x-api-key': key, origin: 'https://shop.example' } };
    const refused = await problemOf(await send({ put_url: urlOf('/web') }, web));
    expect(refused).toMatchObject({ status: 400, errors: [{ pointer: '#/put_url', code: 'forbidden_address' }] });
    const faulty = { put_url: 'https://10.0.0.1/x', deliver: 'url', put_headers: '{"cookie": "a"}' };
    expect(await problemOf(await send(faulty))).toMatchObject({
      code: 'invalid_fields',
      errors: [
        { pointer: '#/put_url', code: 'forbidden_address' },
        { pointer: '#/put_url', code: 'conflict' },
        { pointer: '#/put_headers/cookie', code: 'invalid_choice' },
      ],
    });
    expect(receiver.triesOf('/web')).toBe(0);
  });

  it('no worker is held while a file is sent, and the delivery goes on when its client leaves', async () => {
    const left = new AbortController();
    const waiting = send({ put_url: urlOf('/hold') }, { signal: left.signal }).catch(() => 'left');
    await until(() => receiver.triesOf('/hold') > 0);
    // The server has one worker.
    expect((await send({ asset: photo })).status).toBe(200);
    left.abort();
    expect(await waiting).toBe('left');
    const before = await renderOf(await get('/v1/renders?limit=1'));
    expect(before).toMatchObject({ renders: [{ status: 'rendering', progress: 1, credits: null, output: null }] });
    receiver.release();
    await until(() => receiver.files.has('/hold'));
    const { renders } = (await (await get('/v1/renders?limit=1')).json()) as { renders: readonly Render[] };
    expect(await ended(renders[0]?.id ?? '')).toMatchObject({ status: 'succeeded', credits: 1 });
  });

  it('a render whose file is being sent can not be canceled, because its receiver may have the file already', async () => {
    const render = await renderOf(await send({ put_url: urlOf('/twice-500-cancel') }, ASYNC));
    await until(() => receiver.triesOf('/twice-500-cancel') > 0);
    const options = { method: 'DELETE', headers: { 'x-api-key': server.key } };
    const kept = await renderOf(await fetch(`${server.url}/v1/renders/${render.id}`, options));
    expect(kept).toMatchObject({ status: 'rendering' });
    expect(await ended(render.id)).toMatchObject({ status: 'succeeded', credits: 1 });
  });

  it('the query of the URL is in no log line, no response and no file but the one that needs it, so neither in the database nor in an export', async () => {
    // The receiver has trouble, so that the file and its URL wait for the next try.
    const waiting = await renderOf(
      await send({ put_url: urlOf('/twice-502-waits'), put_headers: `{"x-amz-a": "${SECRET}"}` }, ASYNC),
    );
    await until(() => receiver.triesOf('/twice-502-waits') > 0);
    expect(filesWith(SECRET)).toEqual([path.join('objects/targets', waiting.id)]);
    expect(await ended(waiting.id)).toMatchObject({ status: 'succeeded' });
    await until(() => filesWith(SECRET).length === 0);
    expect(server.output().stderr).toContain('file delivered');
    expect(JSON.stringify(server.output())).not.toContain(SECRET);
    const list = await (await get('/v1/renders?limit=100')).text();
    expect(list).not.toContain(SECRET);
    expect(list).not.toContain('X-Amz-Signature');
  });
});

describe.skipIf(!hasSwift)(`a presigned URL of a real bucket${hasSwift ? '' : ` (${NO_SWIFT})`}`, () => {
  let swift: RunningS3;
  beforeAll(async () => {
    swift = await startSwift();
  });
  afterAll(async () => await swift.stop());

  it('a presigned URL takes the file of a request that waits and of an asynchronous one', async () => {
    const bytes = Buffer.from(await (await send({ asset: photo })).arrayBuffer());
    const render = await renderOf(await send({ asset: photo, put_url: await presignPut(swift, 'photos/one.jpg') }));
    expect(render).toMatchObject({ status: 'succeeded', output: { put_status: 200, bytes: bytes.length } });
    expect((await readObject(swift, 'photos/one.jpg'))?.equals(bytes)).toBe(true);
    const accepted = await send({ asset: photo, put_url: await presignPut(swift, 'photos/two.jpg') }, ASYNC);
    expect(await ended((await renderOf(accepted)).id)).toMatchObject({ status: 'succeeded' });
    expect((await readObject(swift, 'photos/two.jpg'))?.equals(bytes)).toBe(true);
  });

  it('a presigned URL for another key, or with a changed signature, is refused and nothing is charged', async () => {
    const url = new URL(await presignPut(swift, 'photos/three.jpg'));
    url.pathname = url.pathname.replace('three', 'four');
    const refused = await send({ put_url: url.href });
    expect(refused.headers.get('x-credits-charged')).toBe('0');
    expect(await problemOf(refused)).toMatchObject({ status: 502, code: 'delivery_failed', upstream_status: 403 });
    expect(await readObject(swift, 'photos/four.jpg')).toBeUndefined();
  });
});
