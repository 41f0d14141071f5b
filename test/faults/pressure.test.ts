// Clients that dawdle, break off or will not wait, and a process without descriptors: nothing may be kept, or answered wrong.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { form, post, type RunningServer, startServer, until } from '../running-server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ STORYBAR_WORKERS: '1' });
});
afterAll(async () => {
  await server.stop();
});

async function reach({ url }: Pick<RunningServer, 'url'>): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

async function gauge(name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
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

it('ends a connection whose headers do not come, soon after their time', async () => {
  const socket = await reach(server);
  socket.resume();
  socket.write('POST /v1/overlay HTTP/1.1\r\nx-slow: ');
  // Ten seconds are theirs; Node by itself would look only every thirty.
  await until(() => socket.destroyed, 18_000);
  expect(socket.destroyed).toBe(true);
}, 25_000);

it('keeps no promise to clients that are gone before it was made', async () => {
  for (let round = 0; round < 20; round += 1) {
    const socket = await reach(server);
    socket.write(`${head(server.key, 'transfer-encoding: chunked')}zz\r\n`);
    if (round % 2 === 0) socket.destroy();
    else await once(socket.resume(), 'close');
  }
  await until(async () => (await gauge('requests_inside')) === 0);
  await until(async () => (await gauge('uploads_promised_bytes')) === 0);
  expect(await gauge('uploads_promised_bytes')).toBe(0);
});

it.each([false, true])('answers in the middle of an upload, connection kept: %s', async (keepAlive) => {
  const agent = new Agent({ keepAlive });
  const headers = { 'x-api-key': 'wrong', 'content-type': 'multipart/form-data; boundary=b' };
  for (let round = 0; round < 12; round += 1) {
    // An upload that is cut off instead of read to its end gives a broken pipe, and no answer.
    const upload = request(`${server.url}/v1/overlay`, { method: 'POST', agent, headers });
    upload.end(Buffer.alloc(20_000_000));
    const [response] = (await once(upload, 'response')) as [IncomingMessage];
    await buffer(response);
    expect([401, 429]).toContain(response.statusCode);
  }
  agent.destroy();
});

it('answers a client that reads nothing before it has sent everything, and then closes', async () => {
  const socket = await reach(server);
  const size = 20_000_000;
  // Longer than any buffer on the way: without somebody who reads, this would never end.
  socket.write(head('wrong', `content-length: ${size}`));
  await new Promise((resolve) => socket.write(Buffer.alloc(size), resolve));
  const answer = (await buffer(socket)).toString();
  expect(answer).toMatch(/^HTTP\/1\.1 (?:401|429) /u);
  expect(answer).toMatch(/^connection: close\r$/imu);
});

it('keeps the connection of a client whose refused upload was small', async () => {
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

const PRLIMIT = '/usr/bin/prlimit';
it.skipIf(!existsSync(PRLIMIT))(
  'without descriptors: 503, no 500, and no directory stays (needs prlimit)',
  async () => {
    const tight = await startServer({ STORYBAR_WORKERS: '1' });
    try {
      const photo = await noisyJpeg(64, 64);
      const most = readdirSync(`/proc/${tight.pid}/fd`).length + 14;
      execFileSync(PRLIMIT, ['--pid', String(tight.pid), `--nofile=${most}:`]);
      const ask = async (): Promise<number> => {
        const response = await post(tight, form({ asset: photo, text: 'x' })).catch(() => undefined);
        await response?.arrayBuffer();
        return response?.status ?? 0;
      };
      const statuses = await Promise.all(Array.from({ length: 60 }, ask));
      // 0: a connection that could not be accepted.
      expect(statuses.filter((status) => ![0, 200, 503].includes(status))).toEqual([]);
      await until(() => tight.workDirectories().length === 0);
      execFileSync(PRLIMIT, ['--pid', String(tight.pid), '--nofile=1024:']);
      expect(await ask()).toBe(200);
    } finally {
      await tight.stop();
    }
  },
);
