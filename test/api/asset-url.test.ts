// Requests whose file the server fetches itself. 127.0.0.2 is allowed; every other loopback address is not.

import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { plainPng } from '../pictures.ts';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';

const EXAMPLES = path.resolve(import.meta.dirname, '../../examples');
const PHOTO = readFileSync(path.join(EXAMPLES, 'photo.jpg'));
const CLIP = readFileSync(path.join(EXAMPLES, 'clip.mp4'));
const JSON_TYPE = { 'content-type': 'application/json' };

let server: RunningServer;
let files: Server;
let base: string;
let requests: string[];
let openResponses: Set<ServerResponse>;
let changing = PHOTO;

function respond({ url = '' }: IncomingMessage, response: ServerResponse): void {
  requests.push(url);
  openResponses.add(response);
  response.once('close', () => openResponses.delete(response));
  if (url.startsWith('/photo')) response.end(PHOTO);
  else if (url === '/clip') response.end(CLIP);
  else if (url === '/changing') response.end(changing);
  else if (url === '/text') response.end('hello');
  else if (url === '/broken') response.end(PHOTO.subarray(0, 200));
  else if (url === '/large') response.setHeader('content-length', 1e12).flushHeaders();
  else if (url === '/inside') response.writeHead(302, { location: server.url }).end();
  else if (url === '/missing') response.writeHead(404).end();
  else response.write(PHOTO.subarray(0, 1_000));
}

beforeAll(async () => {
  server = await startServer({ STORYBAR_FETCH_ALLOW: '127.0.0.2/32', STORYBAR_WORKERS: '1' });
  files = createServer(respond).listen(0, '127.0.0.2');
  await once(files, 'listening');
  base = `http://127.0.0.2:${(files.address() as AddressInfo).port}`;
});
beforeEach(() => {
  requests = [];
  openResponses = new Set();
});
afterAll(async () => {
  files.closeAllConnections();
  files.close();
  await server.stop();
});

const send = async (body: object, headers: Record<string, string> = {}): Promise<Response> =>
  await post(server, JSON.stringify(body), { headers: { ...JSON_TYPE, ...headers } });

async function bytesOf(response: Response): Promise<Buffer> {
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

async function refusal(body: object): Promise<unknown[]> {
  const response = await send(body);
  expect(response.headers.get('x-credits-charged')).toBe('0');
  const { status, code, errors = [] } = await problemOf(response);
  return [status, code, ...errors.map((fault) => `${fault.pointer} ${fault.code}`)];
}

describe('asset_url', () => {
  it('gives the same image as an upload in every encoding, and ignores width and height', async () => {
    const expected = await bytesOf(await post(server, form({ asset: PHOTO, text: 'Hello' })));
    const fields = { asset_url: `${base}/photo`, text: 'Hello' };
    const responses = [
      await send(fields),
      await send({ ...fields, width: 20, height: 20 }),
      await post(server, form(fields)),
      await post(server, String(new URLSearchParams(fields)), {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    ];
    for (const response of responses) expect((await bytesOf(response)).equals(expected)).toBe(true);
    expect(requests).toEqual(['/photo', '/photo', '/photo', '/photo']);
  });

  it('asset_url works for videos', async () => {
    const response = await send({ asset_url: `${base}/clip`, overlays: [{ text: 'Hello', position: 80 }] });
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(response.headers.get('x-source-type')).toBe('video');
    await bytesOf(response);
  });

  it('returns 400 with every field error before anything is fetched', async () => {
    expect(await refusal({ asset_url: ' ', text: '' })).toEqual([
      400,
      'invalid_fields',
      '#/asset_url invalid_url',
      '#/text blank',
    ]);
    expect(await refusal({ asset_url: 'http://127.0.0.1/a.jpg', text: '' })).toEqual([
      400,
      'invalid_fields',
      '#/asset_url forbidden_address',
      '#/text blank',
    ]);
    expect(await refusal({ asset_url: 7, text: 'a' })).toEqual([400, 'invalid_fields', '#/asset_url wrong_type']);
    expect(await refusal({ asset_url: `${base}/photo`, text: '' })).toEqual([400, 'invalid_fields', '#/text blank']);
    const both = form({ asset: await plainPng(16, 16, '#fff'), asset_url: `${base}/photo`, text: 'a' });
    expect((await problemOf(await post(server, both))).errors).toMatchObject([
      { pointer: '#/asset_url', code: 'conflict' },
    ]);
    expect(await refusal({ asset: 'x', text: 'a', width: 32, height: 32 })).toEqual([
      400,
      'invalid_fields',
      '#/asset wrong_type',
    ]);
    expect(requests).toEqual([]);
  });

  it('returns 400 when it redirects to this server or names it', async () => {
    expect(await refusal({ asset_url: `${base}/inside`, text: 'a' })).toEqual([
      400,
      'invalid_fields',
      '#/asset_url forbidden_address',
    ]);
    const port = new URL(server.url).port;
    for (const host of ['127.0.0.1', '127.1', '2130706433', '0177.0.0.1', '0.0.0.0', '[::1]', '[::ffff:127.0.0.1]']) {
      const [status, , fault] = await refusal({ asset_url: `http://${host}:${port}/ping`, text: 'a' });
      expect([host, status, fault]).toEqual([host, 400, '#/asset_url forbidden_address']);
    }
  });

  it('returns the status of the other server', async () => {
    const problem = await problemOf(await send({ asset_url: `${base}/missing`, text: 'a' }));
    expect(problem).toMatchObject({ status: 422, code: 'asset_unreachable', upstream_status: 404 });
  });

  it('asset_url has the same limits and types as an upload', async () => {
    expect(await refusal({ asset_url: `${base}/text`, text: 'a' })).toEqual([415, 'unsupported_asset']);
    expect(await refusal({ asset_url: `${base}/broken`, text: 'a' })).toEqual([422, 'asset_undecodable']);
    expect(await refusal({ asset_url: `${base}/large`, text: 'a' })).toEqual([413, 'asset_too_large']);
  });

  it('asset_url is part of what an idempotency key stands for', async () => {
    const key = { 'idempotency-key': 'fetched-once' };
    const first = await bytesOf(await send({ asset_url: `${base}/photo?1`, text: 'a' }, key));
    const again = await send({ asset_url: `${base}/photo?1`, text: 'a' }, key);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await bytesOf(again)).equals(first)).toBe(true);
    expect(requests).toEqual(['/photo?1']);
    const other = await problemOf(await send({ asset_url: `${base}/photo?2`, text: 'a' }, key));
    expect(other.code).toBe('idempotency_mismatch');
  });

  it('renders again for free only while the URL returns the file that was paid for', async () => {
    const key = { 'idempotency-key': 'fetched-twice' };
    const request = { asset_url: `${base}/changing`, text: 'a' };
    const response = await send(request, key);
    const first = await bytesOf(response);
    const cache = path.join(server.dataDirectory, 'replays');
    // The server keeps the file shortly after it has sent the last byte.
    const forget = async (): Promise<void> => {
      const id = response.headers.get('x-render-id') ?? '';
      await until(() => readdirSync(cache).includes(id));
      rmSync(path.join(cache, id), { recursive: true });
    };
    await forget();
    const again = await send(request, key);
    expect(again.headers.get('x-credits-charged')).toBe('0');
    expect((await bytesOf(again)).equals(first)).toBe(true);
    await forget();
    changing = CLIP;
    expect((await problemOf(await send(request, key))).code).toBe('idempotency_mismatch');
  });

  it('leaves an idempotency key free when the file could not be fetched', async () => {
    const key = { 'idempotency-key': 'fetched-later' };
    expect((await send({ asset_url: `${base}/missing`, text: 'a' }, key)).status).toBe(422);
    expect((await send({ asset_url: `${base}/photo`, text: 'a' }, key)).status).toBe(200);
  });

  it('a fetch ends when the client disconnects, and leaves nothing behind', async () => {
    const client = new AbortController();
    const pending = post(server, JSON.stringify({ asset_url: `${base}/hanging`, text: 'a' }), {
      headers: JSON_TYPE,
      signal: client.signal,
    });
    await until(() => requests.includes('/hanging'));
    client.abort();
    await expect(pending).rejects.toThrow('aborted');
    await until(() => openResponses.size === 0);
    await until(() => server.workDirectories().length === 0);
  });

  it('holds one of the account’s render slots while it is fetched', async () => {
    const { key } = JSON.parse(await server.cli('keys', 'create', '--plan', 'free', '--json')) as { key: string };
    const caller = { url: server.url, key };
    const client = new AbortController();
    const hang = async (): Promise<unknown> =>
      await post(caller, JSON.stringify({ asset_url: `${base}/hanging`, text: 'a' }), {
        headers: JSON_TYPE,
        signal: client.signal,
      }).catch(() => undefined);
    const pending = [hang(), hang()];
    await until(() => requests.length === 2);
    const third = await post(caller, JSON.stringify({ asset_url: `${base}/photo`, text: 'a' }), { headers: JSON_TYPE });
    expect((await problemOf(third)).code).toBe('too_many_renders');
    client.abort();
    await Promise.all(pending);
    await until(() => openResponses.size === 0);
  });
});

it('the playground, which needs no key, refuses asset_url', async () => {
  const response = await fetch(`${server.url}/playground/render`, {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify({ asset_url: `${base}/photo`, text: 'a' }),
  });
  expect((await problemOf(response)).errors).toMatchObject([{ pointer: '#/asset_url', code: 'forbidden_address' }]);
  expect(requests).toEqual([]);
});
