// Traces of a running server, received by a collector that understands OTLP over HTTP.

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grep } from '../log-lines.ts';
import { plainPng } from '../pictures.ts';
import { form, post, type RunningServer, startServer, until } from '../running-server.ts';

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { key: string; value: { stringValue?: string; intValue?: string } }[];
}

interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpSpan['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const CAPTION = 'a caption that no trace may contain';
const attributesOf = ({ attributes }: Pick<OtlpSpan, 'attributes'>): Record<string, string | undefined> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

let collector: Server;
let server: RunningServer;
const received: { readonly url: string | undefined; readonly headers: IncomingHttpHeaders; readonly body: OtlpBody }[] =
  [];
const spans = (): OtlpSpan[] =>
  received.flatMap(({ body }) =>
    body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  );
const spansOf = async (traceId: string): Promise<OtlpSpan[]> =>
  await until(() => {
    const found = spans().filter((span) => span.traceId === traceId);
    return found.length > 0 && found;
  });

beforeAll(async () => {
  collector = createServer((request, response) => {
    const { url, headers } = request;
    void json(request).then((body) => {
      received.push({ url, headers, body: body as OtlpBody });
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  server = await startServer({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-secret',
  });
});
afterAll(async () => {
  await server.stop();
  collector.close();
});

describe('a trace', () => {
  it("a trace continues the client's trace with all steps of a render, down to those of the worker", async () => {
    const asset = await plainPng(200, 100, 'gray');
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
    const response = await post(server, form({ asset, text: CAPTION }), { headers });
    await response.arrayBuffer();
    const trace = await spansOf(TRACE);
    const root = trace.find(({ parentSpanId }) => parentSpanId === PARENT);
    const childrenOf = (parent: OtlpSpan | undefined): OtlpSpan[] =>
      trace.filter(({ parentSpanId }) => parentSpanId === parent?.spanId);
    expect(root).toMatchObject({ name: 'POST /v1/overlay', kind: 2 });
    const steps = childrenOf(root);
    expect(steps.map(({ name }) => name)).toEqual(['receive', 'queue', 'probe', 'reserve', 'render', 'deliver']);
    const render = steps.find(({ name }) => name === 'render');
    const work = childrenOf(render).map(({ name }) => name);
    expect(work).toEqual(expect.arrayContaining(['decode', 'draw', 'encode']));
    for (const span of trace) {
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
      expect(BigInt(span.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(root?.startTimeUnixNano ?? 0));
      expect(BigInt(span.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(root?.endTimeUnixNano ?? 0));
    }
    expect(attributesOf(root ?? { attributes: [] })).toMatchObject({
      'http.route': '/v1/overlay',
      'http.response.status_code': '200',
      'storybar.source_type': 'image',
      'storybar.request_id': response.headers.get('x-request-id'),
      'storybar.worker': expect.stringMatching(/^image-/u),
    });
  });

  it('names the service, goes to /v1/traces with the configured headers, and contains no caption and no key', async () => {
    await spansOf(TRACE);
    const [first] = received;
    expect(first).toMatchObject({ url: '/v1/traces', headers: { authorization: 'Bearer collector-secret' } });
    const [resource] = first?.body.resourceSpans ?? [];
    expect(attributesOf(resource?.resource ?? { attributes: [] })).toMatchObject({ 'service.name': 'storybar' });
    const text = JSON.stringify(received.map(({ body }) => body));
    expect(text).not.toContain(CAPTION);
    expect(text).not.toContain(server.key);
  });

  it('a trace starts here when the client has none, and its id is in the log line', async () => {
    const response = await post(server, form({ text: CAPTION, width: '64', height: '64' }));
    await response.arrayBuffer();
    const id = response.headers.get('x-render-id') ?? '';
    const lines = await grep(() => server.output().stderr, id, 'request completed');
    const line = lines.find(({ msg }) => msg === 'request completed');
    expect(line).toMatchObject({ requestId: response.headers.get('x-request-id') });
    expect(line).not.toHaveProperty('renderId');
    const traceId = String(line?.['traceId']);
    expect(traceId).toMatch(/^[\da-f]{32}$/u);
    const names = (await spansOf(traceId)).map(({ name }) => name);
    expect(names.filter((name) => /^(?:POST|receive|reserve|queue|render|deliver)/u.test(name))).toEqual([
      'POST /v1/overlay',
      'receive',
      'reserve',
      'queue',
      'render',
      'deliver',
    ]);
  });

  it('no trace is sent when the client decided against it, or for a health check', async () => {
    const silent = 'c'.repeat(32);
    const headers = { traceparent: `00-${silent}-${PARENT}-00` };
    await (await post(server, form({ text: CAPTION, width: '64', height: '64' }), { headers })).arrayBuffer();
    await fetch(`${server.url}/health`);
    const last = 'd'.repeat(32);
    await fetch(`${server.url}/docs/errors`, { headers: { traceparent: `00-${last}-${PARENT}-01` } });
    await spansOf(last);
    expect(spans().filter(({ traceId }) => traceId === silent)).toEqual([]);
    expect(spans().filter(({ name }) => name === 'GET /health')).toEqual([]);
  });
});
