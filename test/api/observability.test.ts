// Metrics, logs, health and readiness of a running server.

import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grep } from '../log-lines.ts';
import { scrape } from '../scrape.ts';
import { form, health, METRICS_TOKEN, post, type RunningServer, startServer, until } from '../running-server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  await server.stop();
});

const OVERLAY = { text: 'Hello', width: '64', height: '64' };
const DELIVERED = 'storybar_requests_total{type="overlay",outcome="delivered"}';

describe('metrics', () => {
  it('metrics count requests by outcome, credits, queue waits, workers and bytes', async () => {
    await (await post(server, form(OVERLAY))).arrayBuffer();
    await post(server, form({ text: 'no size' }));
    await post({ url: server.url, key: 'nonsense' }, form(OVERLAY));
    // The first request is charged and counted after its last byte.
    const seen = await until(async () => {
      const samples = await scrape(server.url);
      return samples.get(DELIVERED) === 1 && samples.get('storybar_requests_inside') === 0 ? samples : undefined;
    });
    expect(seen.get('storybar_requests_total{type="none",outcome="invalid_fields"}')).toBe(1);
    expect(seen.get('storybar_requests_total{type="none",outcome="invalid_api_key"}')).toBe(1);
    expect(seen.get('storybar_request_seconds_count{type="overlay",result="delivered"}')).toBe(1);
    expect(seen.get('storybar_credits_charged_total')).toBe(1);
    expect(seen.get('storybar_queue_wait_seconds_count{pool="image"}')).toBe(1);
    expect(seen.get('storybar_queue_waiting{pool="image"}')).toBe(0);
    // The worker for short videos starts with the first video.
    expect(seen.get('storybar_workers{pool="video",state="ready"}')).toBe(1);
    expect(seen.get('storybar_worker_restarts_total{pool="image"}')).toBe(0);
    expect(seen.get('storybar_uploads_promised_bytes')).toBe(0);
    expect(seen.get('storybar_bytes_total{direction="sent"}')).toBeGreaterThan(500);
    expect(seen.get('storybar_process_resident_memory_bytes')).toBeGreaterThan(1e7);
  });

  it('metrics require the token if one is set, and tell a wrong one from none', async () => {
    const ask = async (authorization: string): Promise<unknown[]> => {
      const response = await fetch(`${server.url}/metrics`, { headers: { authorization } });
      const text = await response.text();
      return [response.status, response.ok ? '' : (JSON.parse(text) as { code: string }).code];
    };
    expect(await ask('')).toEqual([401, 'missing_api_key']);
    expect(await ask('Bearer other')).toEqual([401, 'invalid_api_key']);
    expect(await ask(`Bearer ${METRICS_TOKEN}`)).toEqual([200, '']);
  });
});

describe('logs', () => {
  it("logs contain the client's trace id with the render id", async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const response = await post(server, form(OVERLAY), { headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01` } });
    await response.arrayBuffer();
    const id = response.headers.get('x-render-id') ?? '';
    const lines = await grep(() => server.output().stderr, id, 'request completed');
    expect(lines.find(({ msg }) => msg === 'request completed')).toMatchObject({ traceId: trace, status: 200 });
  });

  it('logs contain only JSON lines, however many requests run at once', async () => {
    const created = await server.cli('keys', 'create', '--plan', 'pro', '--name', 'many', '--json');
    const { key } = JSON.parse(created) as { key: string };
    const headers = { 'x-api-key': key, 'content-type': 'multipart/form-data; boundary=end' };
    const uploads = Array.from({ length: 12 }, () => request(`${server.url}/v1/overlay`, { method: 'POST', headers }));
    for (const upload of uploads) upload.on('error', () => undefined).flushHeaders();
    const inside = async (count: number): Promise<true | undefined> =>
      (await scrape(server.url)).get('storybar_requests_inside') === count ? true : undefined;
    await until(async () => await inside(uploads.length));
    for (const upload of uploads) upload.destroy();
    await until(async () => await inside(0));
    const lines = server.output().stderr.split('\n').slice(0, -1);
    expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
  });
});

it('/health reports the latency of the latest deliveries', async () => {
  await (await post(server, form(OVERLAY))).arrayBuffer();
  const { latencyMs } = await until(async () => {
    const report = (await health(server)) as unknown as { latencyMs: Record<string, unknown> };
    return report.latencyMs['overlay'] === undefined ? undefined : report;
  });
  expect(latencyMs['overlay']).toMatchObject({ median: expect.any(Number), p99: expect.any(Number) });
  expect(latencyMs['video']).toBeUndefined();
});

it('the server keeps everything but the status in /health for callers with the metrics token', async () => {
  for (const headers of [{}, { authorization: 'Bearer other' }, { authorization: 'Bearer ' }]) {
    const response = await fetch(`${server.url}/health`, { headers });
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  }
  expect(await health(server)).toMatchObject({ version: expect.any(String), sandbox: { level: expect.any(String) } });
});

it('the server reports readiness in /ready', async () => {
  const response = await fetch(`${server.url}/ready`);
  expect([response.status, await response.json()]).toEqual([200, { ready: true }]);
});
