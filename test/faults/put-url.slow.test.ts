// A server that is killed at every step of a delivery to a presigned URL: the object is complete or absent at any time, complete
// in the end, and charged once.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { holdImages } from '../held-workers.ts';
import { noisyJpeg } from '../pictures.ts';
import { hasSwift, NO_SWIFT, presignPut, readObject, startSwift } from '../running-s3.ts';
import { form, post, type RunningServer, startServer, until } from '../running-server.ts';

interface StoppingProxy {
  readonly url: string;
  /** True when a delivery has reached the step. */
  readonly hasStopped: () => boolean;
  /** From now on, everything passes. */
  open(): void;
  stop(): Promise<void>;
}

const folder = mkdtempSync(path.join(tmpdir(), 'storybar-puts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Passes `bytes` of a request on and then nothing more. With all of them, the response doesn't come back. */
async function startStoppingProxy(targetPort: number, bytes: number): Promise<StoppingProxy> {
  let [isOpen, hasStopped] = [false, false];
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ host: '127.0.0.1', port: targetPort });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => [near, far].forEach((each) => each.destroy()));
    }
    let left = isOpen ? Infinity : bytes;
    near.on('data', (chunk: Buffer) => {
      far.write(chunk.subarray(0, Math.min(left, chunk.length)));
      left -= chunk.length;
      if (left <= 0) hasStopped = true;
    });
    far.on('data', (chunk: Buffer) => {
      // The receiver has the whole object, because this is its final response.
      if (!isOpen && !chunk.toString('latin1').startsWith('HTTP/1.1 100')) hasStopped = true;
      else near.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hasStopped: () => hasStopped,
    open: () => (isOpen = true),
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const ENVIRONMENT = { STORYBAR_DATA_DIR: folder, STORYBAR_PUT_ALLOW: '127.0.0.1' };

async function usedCredits({ url }: RunningServer, key: string): Promise<{ used: number; reserved: number }> {
  const usage = await fetch(`${url}/v1/usage`, { headers: { 'x-api-key': key } });
  const { credits } = (await usage.json()) as { credits: { used: number; reserved: number } };
  return { used: credits.used, reserved: credits.reserved };
}

describe.skipIf(!hasSwift)(`deliveries and kill -9${hasSwift ? '' : ` (${NO_SWIFT})`}`, () => {
  it('every object is complete or absent when the server is killed, complete after its restart, and charged once', async () => {
    const [swift, photo, first] = await Promise.all([startSwift(), noisyJpeg(900, 700), startServer(ENVIRONMENT)]);
    const created = await first.cli('keys', 'create', '--plan', 'business', '--json');
    const { key } = JSON.parse(created) as { key: string };
    const headers = { 'x-api-key': key };
    const expected = Buffer.from(
      await (await post(first, form({ asset: photo, text: 'Hi' }), { headers })).arrayBuffer(),
    );
    expect(expected.length).toBeGreaterThan(200_000);
    const swiftPort = Number(new URL(swift.options.endpoint).port);
    // Nothing arrives, a part of the headers, a part of the file, and all of it without a response.
    const steps = {
      connected: 1,
      headers: 200,
      part: expected.length / 2,
      whole: Infinity,
      waiting: expected.length / 3,
    };
    const proxies = new Map<string, StoppingProxy>();
    for (const [step, bytes] of Object.entries(steps)) proxies.set(step, await startStoppingProxy(swiftPort, bytes));
    const urlOf = async (step: string): Promise<string> =>
      await presignPut(swift, `kill/${step}.jpg`, { endpoint: proxies.get(step)?.url ?? swift.options.endpoint });
    const send = async (server: RunningServer, step: string, more: Record<string, string>): Promise<Response> => {
      const body = form({ asset: photo, text: 'Hi', put_url: await urlOf(step) });
      return await post(server, body, { headers: { ...headers, 'idempotency-key': step, ...more } });
    };
    const async = { prefer: 'respond-async' };
    for (const step of ['connected', 'headers', 'part', 'whole'])
      expect((await send(first, step, async)).status).toBe(202);
    // This request waits for its delivery, and never gets a response.
    const waiting = send(first, 'waiting', {}).catch((error: unknown) => error);
    await until(() => [...proxies.values()].every((proxy) => proxy.hasStopped()));
    // One more is killed while it renders.
    const release = holdImages(first);
    expect((await send(first, 'rendering', async)).status).toBe(202);
    first.signal('SIGKILL');
    await first.exited;
    release();
    expect(await waiting).toBeInstanceOf(Error);
    for (const step of [...Object.keys(steps), 'rendering']) {
      const object = await readObject(swift, `kill/${step}.jpg`);
      expect([step, object === undefined ? 'absent' : object.equals(expected)]).toEqual([
        step,
        step === 'whole' ? true : 'absent',
      ]);
    }
    for (const proxy of proxies.values()) proxy.open();
    const second = await startServer(ENVIRONMENT);
    // The repeated requests send nothing: they report the deliveries that the server has taken up again.
    for (const step of [...Object.keys(steps), 'rendering']) {
      const replayed = await send(second, step, {});
      expect([step, replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([step, 200, 'true']);
      expect(await replayed.json()).toMatchObject({ status: 'succeeded', credits: 1, output: { put_status: 200 } });
      expect([step, (await readObject(swift, `kill/${step}.jpg`))?.equals(expected)]).toEqual([step, true]);
    }
    // One for each step, one for the render that was killed, and one for the file to compare with.
    expect(await usedCredits(second, key)).toEqual({ used: 7, reserved: 0 });
    await second.stop();
    for (const proxy of proxies.values()) await proxy.stop();
    await swift.stop();
  });
});
