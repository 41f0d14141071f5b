// CORS: which web pages can read the API's responses in a browser.

import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SqliteEngine } from '../../src/service/store/sqlite-engine.ts';
import { createStore } from '../../src/service/store/store.ts';
import { form, post, problemOf } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';

const PAGE = 'https://shop.example';
const FORM = { width: '32', height: '32', text: 'a' };

let server: SharedServer;
let restricted: { id: string; key: string };

beforeAll(async () => {
  server = await sharedServer();
  restricted = JSON.parse(await server.cli('keys', 'create', '--plan', 'starter', '--json')) as typeof restricted;
  const store = createStore(new SqliteEngine(path.join(server.dataDirectory, 'storybar.db')));
  await store.keys.setAllowedOrigins(restricted.id, [PAGE, 'http://localhost:5173'], 'test');
  await store.close();
});

const preflight = async (pathname: string, headers: Record<string, string>): Promise<Response> =>
  await fetch(`${server.url}${pathname}`, { method: 'OPTIONS', headers });

const render = async (key: string, origin: string | undefined, values = FORM): Promise<Response> =>
  await post({ url: server.url, key }, form(values), { headers: origin === undefined ? {} : { origin } });

describe('a preflight', () => {
  it('a preflight gets the same response for every origin, because it carries no key', async () => {
    const headers = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-api-key' };
    for (const origin of [PAGE, 'https://evil.example']) {
      const response = await preflight('/v1/overlay', { ...headers, origin });
      expect([response.status, await response.text()]).toEqual([204, '']);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers':
          'x-api-key, authorization, idempotency-key, content-type, prefer, range, traceparent, tracestate',
        'access-control-max-age': '7200',
      });
      expect(response.headers.has('access-control-allow-credentials')).toBe(false);
    }
  });

  it('a preflight gets a response only for the overlay endpoint', async () => {
    const headers = { origin: PAGE, 'access-control-request-method': 'POST' };
    for (const pathname of ['/health', '/signin', '/nowhere']) {
      const response = await preflight(pathname, headers);
      expect(response.status).toBeGreaterThanOrEqual(404);
      expect(response.headers.has('access-control-allow-origin')).toBe(false);
    }
  });
});

describe('a key with allowed origins', () => {
  it('a key with allowed origins lets pages from these origins read the response', async () => {
    const response = await render(restricted.key, PAGE);
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(response.headers.get('vary')).toBe('origin');
    const exposed = response.headers.get('access-control-expose-headers')?.split(', ') ?? [];
    expect(exposed).toEqual(expect.arrayContaining(['x-render-id', 'x-credits-remaining', 'ratelimit', 'retry-after']));
    const own = [...response.headers.keys()].filter((name) => /^(?:x-(?!content)|ratelimit|server-timing)/u.test(name));
    expect(own.filter((name) => !exposed.includes(name))).toEqual([]);
    await response.arrayBuffer();
  });

  it('a key with allowed origins lets pages from these origins read errors', async () => {
    const response = await render(restricted.key, PAGE, { ...FORM, width: '0' });
    expect(response.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(await problemOf(response)).toMatchObject({ status: 400 });
    await server.cli('keys', 'suspend', restricted.id);
    const suspended = await render(restricted.key, PAGE);
    expect(suspended.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(await problemOf(suspended)).toMatchObject({ code: 'key_suspended' });
    await server.cli('keys', 'resume', restricted.id);
  });

  it.each(['https://evil.example', 'http://shop.example', 'https://shop.example:8443', 'null', ''])(
    'a key with allowed origins rejects a page from the origin %j',
    async (origin) => {
      const response = await render(restricted.key, origin);
      expect(response.headers.has('access-control-allow-origin')).toBe(false);
      expect(response.headers.get('vary')).toBe('origin');
      expect(await problemOf(response)).toMatchObject({ status: 403, code: 'origin_not_allowed' });
    },
  );

  it('a key with allowed origins works for clients that send no origin', async () => {
    const response = await render(restricted.key, undefined);
    expect(response.status).toBe(200);
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
    await response.arrayBuffer();
  });
});

it('a key without origins lets no page read the response', async () => {
  const response = await render(server.key, PAGE);
  expect(response.status).toBe(200);
  expect(response.headers.has('access-control-allow-origin')).toBe(false);
  await response.arrayBuffer();
});

it('an invalid key lets no page read the error', async () => {
  const response = await render('sb_live_nonsense', PAGE);
  expect(response.headers.has('access-control-allow-origin')).toBe(false);
  expect(await problemOf(response)).toMatchObject({ code: 'invalid_api_key' });
});
