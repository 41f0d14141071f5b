// One server with all optional features switched off, and with unusual settings for the rest.

import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../free-port.ts';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { scrape } from '../scrape.ts';

const LOGO = path.resolve(import.meta.dirname, '../../examples/brand-kit/logo.png');
const OVERLAY = { text: 'Hello', width: '64', height: '64' };

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({
    STORYBAR_ASYNC: 'off',
    STORYBAR_FETCH: 'off',
    STORYBAR_FETCH_ALLOW: '127.0.0.2',
    STORYBAR_METRICS_TOKEN: '',
    HOST: '0.0.0.0',
    STORYBAR_SEGMENT_SECONDS: '10',
    STORYBAR_MARKETPLACE_NAME: 'bazaar',
    STORYBAR_MARKETPLACE_SECRETS: 's',
    // Nothing listens at this address.
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
  });
});
afterAll(async () => {
  await server.stop();
});

it('the server starts with a setting of an earlier version, and logs a warning that names it', async () => {
  await until(() => server.output().stderr.includes('removed setting ignored'));
  const entries = server
    .output()
    .stderr.split('\n')
    .filter((line) => line.includes('removed setting ignored'));
  expect(entries).toHaveLength(1);
  expect(JSON.parse(entries[0] ?? '')).toMatchObject({ level: 40, variable: 'STORYBAR_SEGMENT_SECONDS' });
});

it('the server refuses asynchronous requests and links when they are off', async () => {
  const disabled = { status: 400, code: 'async_disabled' };
  const headers = { prefer: 'respond-async' };
  expect(await problemOf(await post(server, form(OVERLAY), { headers }))).toMatchObject(disabled);
  expect(await problemOf(await post(server, form({ ...OVERLAY, async: 'true' })))).toMatchObject(disabled);
  expect(await problemOf(await post(server, form({ ...OVERLAY, deliver: 'url' })))).toMatchObject(disabled);
  expect((await post(server, form(OVERLAY))).status).toBe(200);
});

it('the server stores and draws logos when asynchronous requests are off, also for a marketplace', async () => {
  const body = new FormData();
  body.append('asset', new Blob([new Uint8Array(readFileSync(LOGO))]), 'logo.png');
  const logos = `${server.url}/v1/logos`;
  const uploaded = await fetch(logos, { method: 'POST', headers: { 'x-api-key': server.key }, body });
  expect(uploaded.status).toBe(201);
  const { id } = (await uploaded.json()) as { id: string };
  const style = JSON.stringify({ logo: { id } });
  expect((await post(server, form({ ...OVERLAY, style }))).status).toBe(200);
  const headers = { 'x-bazaar-proxy-secret': 's', 'x-bazaar-user': 'ann', 'x-bazaar-subscription': 'PRO' };
  expect((await fetch(logos, { method: 'POST', headers, body })).status).toBe(201);
});

it('fetches nothing when STORYBAR_FETCH is off', async () => {
  const body = JSON.stringify({ asset_url: 'http://127.0.0.2/photo', text: 'a' });
  const response = await post(server, body, { headers: { 'content-type': 'application/json' } });
  const { errors = [] } = await problemOf(response);
  expect(errors).toMatchObject([{ pointer: '#/asset_url', code: 'forbidden_address' }]);
  expect(errors[0]?.detail).toContain('STORYBAR_FETCH');
});

it('supports a marketplace with another name', async () => {
  const headers = { 'x-bazaar-proxy-secret': 's', 'x-bazaar-user': 'ann', 'x-bazaar-subscription': 'PRO' };
  const response = await fetch(`${server.url}/v1/overlay`, { method: 'POST', body: form(OVERLAY), headers });
  expect([response.status, response.headers.get('x-bazaar-billing')]).toEqual([200, 'Credits=1']);
  expect(response.headers.get('x-credits-remaining')).toBe('1999');
});

it('without a token, only direct requests from this machine can read the metrics', async () => {
  const { port } = new URL(server.url);
  const ask = async (host: string, headers: Record<string, string> = {}): Promise<number> =>
    (await fetch(`http://${host}:${port}/metrics`, { headers })).status;
  expect(await ask('127.0.0.1')).toBe(200);
  for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via']) {
    expect([header, await ask('127.0.0.1', { [header]: '127.0.0.1' })]).toEqual([header, 401]);
  }
  // An empty token must not match an empty header.
  expect(await ask('127.0.0.1', { authorization: 'Bearer ', 'x-forwarded-for': '127.0.0.1' })).toBe(401);
  // Other addresses of this machine aren't loopback, so requests to them come from outside.
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outside = addresses.filter(({ internal, family }) => !internal && family === 'IPv4');
  expect(await Promise.all(outside.map(async ({ address }) => await ask(address)))).toEqual(outside.map(() => 401));
});

it('a collector of traces that is down costs no request, is logged and counted', async () => {
  const response = await post(server, form(OVERLAY));
  expect(response.status).toBe(200);
  await response.arrayBuffer();
  await until(async () => ((await scrape(server.url)).get('storybar_trace_spans_lost_total') ?? 0) > 0);
  await until(() => server.output().stderr.includes('trace export failed'));
});
