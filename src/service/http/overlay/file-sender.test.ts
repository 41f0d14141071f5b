// The sender on a real socket: the bytes that arrive, and its reports when the client leaves or doesn't read.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { ftruncateSync, mkdtempSync, openSync, closeSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../shared/errors.ts';
import { DeliveryBroken } from '../../renders/delivery-broken.ts';
import { FileSender } from './file-sender.ts';

/** A client that reads nothing gets less than half of this into socket buffers. */
const HUGE_BYTES = 100_000_000;

let folder: string;
let file: string;
let app: FastifyInstance;
let shutdown: AbortController;
let maxSeconds: number;
let outcome: Promise<unknown>;
/** The server's end of the latest connection. */
let connection: Socket;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-send-'));
  file = path.join(folder, 'result');
  shutdown = new AbortController();
  maxSeconds = 3_600;
  app = fastify({ logger: false });
  outcome = new Promise((resolve) => {
    app.get('/', async (_request, reply) => {
      const sender = new FileSender(shutdown.signal, maxSeconds);
      await sender.send(reply, file, {}).then(resolve, (error: unknown) => {
        resolve(error);
        reply.hijack();
      });
      return reply;
    });
  });
  app.server.on('connection', (socket: Socket) => (connection = socket));
  await app.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(async () => {
  app.server.closeAllConnections();
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

const port = (): number => (app.server.address() as AddressInfo).port;

/** A file without content, which takes no space on disk. */
function makeHuge(): void {
  const descriptor = openSync(file, 'w');
  ftruncateSync(descriptor, HUGE_BYTES);
  closeSync(descriptor);
}

/**
 * Requests the file and reads until at least this many bytes were sent. The bytes that the client has read say little,
 * because the kernel may hold many megabytes that were sent.
 */
async function readUntilSent(bytes: number): Promise<Socket> {
  const socket = connect(port(), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nhost: test\r\n\r\n');
  do await once(socket, 'data');
  while (connection.bytesWritten - connection.writableLength < bytes);
  socket.pause();
  return socket;
}

describe('FileSender', () => {
  it.each([0, 1, 65_536, 65_537, 137_971, 137_972, 4_194_304, 4_194_305, 5_000_000])(
    'sends a file of %i bytes unchanged',
    async (size) => {
      const content = randomBytes(size);
      writeFileSync(file, content);
      const response = await fetch(`http://127.0.0.1:${port()}/`);
      expect(response.headers.get('content-length')).toBe(String(size));
      expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
      expect(await outcome).toBeUndefined();
    },
  );

  it.each([50, 97])('reports how much was sent when the client resets the connection after %i %%', async (percent) => {
    makeHuge();
    const sent = (HUGE_BYTES / 100) * percent;
    const socket = await readUntilSent(sent);
    socket.resetAndDestroy();
    const broken = await outcome;
    expect(broken).toBeInstanceOf(DeliveryBroken);
    expect(broken).toMatchObject({ code: 'client_closed', totalBytes: HUGE_BYTES });
    const { sentBytes } = broken as DeliveryBroken;
    // The last writes may not be confirmed, and the server may have sent a little more before it noticed.
    expect(sentBytes).toBeGreaterThan(sent - 2_000_000);
    expect(sentBytes).toBeLessThan(sent + 2_900_000);
  });

  it('closes the connection of a client that does not read the response in time', async () => {
    makeHuge();
    maxSeconds = 1;
    await readUntilSent(1);
    expect(await outcome).toMatchObject({
      code: 'client_closed',
      message: "The client didn't read the response within 1 seconds.",
    });
  });

  it('does not blame the client when the server shuts down during the delivery', async () => {
    makeHuge();
    await readUntilSent(1);
    shutdown.abort(new AppError('shutting_down', 'The server is shutting down.'));
    const error = await outcome;
    expect(error).toMatchObject({ code: 'shutting_down' });
    expect(error).not.toBeInstanceOf(DeliveryBroken);
  });

  it('does not blame the client when the file cannot be read to its end', async () => {
    makeHuge();
    const socket = await readUntilSent(1);
    truncateSync(file, 1_000_000);
    socket.resume();
    const error = await outcome;
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    expect(error).not.toBeInstanceOf(DeliveryBroken);
  });
});
