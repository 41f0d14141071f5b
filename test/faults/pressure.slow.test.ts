// Slow, disconnecting and impatient clients, and a process without free file descriptors: nothing leaks, and every
// response is right.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { form, post, type RunningServer, startServer, until, WITH_METRICS_TOKEN } from '../running-server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ STORYBAR_WORKERS: '1' });
});
afterAll(async () => {
  await server.stop();
});

async function connectTo({ url }: Pick<RunningServer, 'url'>): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

async function gauge(name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`, WITH_METRICS_TOKEN)).text();
  return Number(new RegExp(`^storybar_${name} (\\d+)`, 'mu').exec(text)?.[1]);
}

const head = (key: string, ...headers: string[]): string =>
  [
    'POST /v1/overlay HTTP/1.1',
    'host: x',
    `x-api-key: ${key}`,
    'content-type: multipart/form-data; boundary=b',
    ...headers,
    '\r\n',
  ].join('\r\n');

it('the server closes a connection whose headers are incomplete soon after 10 seconds', async () => {
  const socket = await connectTo(server);
  socket.resume();
  socket.write('POST /v1/overlay HTTP/1.1\r\nx-slow: ');
  // By default, Node looks for such connections only every 30 seconds.
  await until(() => socket.destroyed);
  expect(socket.destroyed).toBe(true);
});

it('the server releases the reserved bytes of clients that disconnect during admission', async () => {
  for (let round = 0; round < 20; round += 1) {
    const socket = await connectTo(server);
    socket.write(`${head(server.key, 'transfer-encoding: chunked')}zz\r\n`);
    if (round % 2 === 0) socket.destroy();
    else await once(socket.resume(), 'close');
  }
  await until(async () => (await gauge('requests_inside')) === 0);
  await until(async () => (await gauge('uploads_promised_bytes')) === 0);
  expect(await gauge('uploads_promised_bytes')).toBe(0);
});

it.each([false, true])('the server responds in the middle of an upload (keep-alive: %s)', async (keepAlive) => {
  const agent = new Agent({ keepAlive });
  const headers = { 'x-api-key': 'wrong', 'content-type': 'multipart/form-data; boundary=b' };
  for (let round = 0; round < 12; round += 1) {
    // If the server stopped reading, the client would get a broken pipe and no response.
    const upload = request(`${server.url}/v1/overlay`, { method: 'POST', agent, headers });
    upload.end(Buffer.alloc(20_000_000));
    const [response] = (await once(upload, 'response')) as [IncomingMessage];
    await buffer(response);
    expect([401, 429]).toContain(response.statusCode);
  }
  agent.destroy();
});

it('the server responds to a client that reads nothing before it has sent everything, and then closes the connection', async () => {
  const socket = await connectTo(server);
  const size = 20_000_000;
  // Larger than all socket buffers: if the server stopped reading, this write would never finish.
  socket.write(head('wrong', `content-length: ${size}`));
  await new Promise((resolve) => socket.write(Buffer.alloc(size), resolve));
  const response = (await buffer(socket)).toString();
  expect(response).toMatch(/^HTTP\/1\.1 (?:401|429) /u);
  expect(response).toMatch(/^connection: close\r$/imu);
});

it('the server keeps the connection open after it refused a small upload', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  for (let round = 0; round < 3; round += 1) {
    const upload = request(`${server.url}/v1/overlay`, { method: 'POST', agent, headers: { 'x-api-key': 'wrong' } });
    upload.end('some bytes');
    const [response] = (await once(upload, 'response')) as [IncomingMessage];
    ports.add(response.socket.localPort);
    await buffer(response);
  }
  agent.destroy();
  expect(ports.size).toBe(1);
});

describe('an upload that takes longer than STORYBAR_UPLOAD_SECONDS', () => {
  let impatient: RunningServer;
  beforeAll(async () => {
    impatient = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_UPLOAD_SECONDS: '2' });
  });
  afterAll(async () => {
    await impatient.stop();
  });

  /** Sends an asset that never ends, faster than the minimum rate. */
  async function uploadForever(agent: Agent, headers: Record<string, string> = {}): Promise<IncomingMessage> {
    const upload = request(`${impatient.url}/v1/overlay`, {
      method: 'POST',
      agent,
      headers: { 'x-api-key': impatient.key, 'content-type': 'multipart/form-data; boundary=b', ...headers },
    });
    upload.on('error', () => undefined);
    upload.write('--b\r\ncontent-disposition: form-data; name="asset"; filename="a"\r\n\r\n');
    upload.write(await noisyJpeg(64, 64));
    const drip = setInterval(() => upload.write(Buffer.alloc(4_096)), 100);
    try {
      const [response] = (await once(upload, 'response')) as [IncomingMessage];
      return response;
    } finally {
      clearInterval(drip);
      upload.end();
    }
  }

  it.each([
    ['on a new connection', {}, 0],
    ['after `expect: 100-continue`', { expect: '100-continue' }, 0],
    ['on a connection that was used before', {}, 1],
  ])(
    'an upload that takes too long gets 408 with a detail that names the limit, %s',
    async (_when, headers, earlierRequests) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let count = 0; count < earlierRequests; count += 1) {
        const [response] = (await once(request(`${impatient.url}/ping`, { agent }).end(), 'response')) as [
          IncomingMessage,
        ];
        await buffer(response);
      }
      const began = performance.now();
      const response = await uploadForever(agent, headers);
      expect(performance.now() - began).toBeGreaterThan(1_900);
      expect(response.headers['content-type']).toMatch(/^application\/problem\+json/u);
      expect(JSON.parse((await buffer(response)).toString())).toMatchObject({
        status: 408,
        code: 'upload_too_slow',
        detail: expect.stringContaining('within 2 seconds'),
        instance: response.headers['x-render-id'],
      });
      agent.destroy();
      await until(() => impatient.workDirectories().length === 0);
    },
  );
});

const PRLIMIT = '/usr/bin/prlimit';
it.skipIf(!existsSync(PRLIMIT))(
  'the server returns 503 and leaves no directory behind when file descriptors run out (needs prlimit)',
  async () => {
    const photo = await noisyJpeg(64, 64);
    const maxFiles = readdirSync(`/proc/${server.pid}/fd`).length + 14;
    execFileSync(PRLIMIT, ['--pid', String(server.pid), `--nofile=${maxFiles}:`]);
    const render = async (): Promise<number> => {
      const response = await post(server, form({ asset: photo, text: 'x' })).catch(() => undefined);
      await response?.arrayBuffer();
      return response?.status ?? 0;
    };
    const statuses = await Promise.all(Array.from({ length: 60 }, render));
    // 0 stands for a connection that could not be accepted.
    expect(statuses.filter((status) => ![0, 200, 503].includes(status))).toEqual([]);
    await until(() => server.workDirectories().length === 0);
    execFileSync(PRLIMIT, ['--pid', String(server.pid), '--nofile=1024:']);
    expect(await render()).toBe(200);
  },
);
