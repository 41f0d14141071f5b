import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PutReceiver, startPutReceiver } from '../../../test/put-receiver.ts';
import { FetchPolicy } from './fetch-policy.ts';
import { type PutOutcome, PutSender } from './put-sender.ts';

const BODY = Buffer.alloc(3_000_000, 'x');
/** Long, so that only the test that waits for one of them depends on it. */
const times = { continueMs: 600_000, idleMs: 600_000, responseMs: 600_000, maxMs: 600_000 };
const NEVER = new AbortController().signal;

let receiver: PutReceiver;
beforeAll(async () => {
  receiver = await startPutReceiver();
});
afterAll(async () => await receiver.stop());

async function send(url: string, allow = ['127.0.0.1'], changes: Partial<typeof times> = {}): Promise<PutOutcome> {
  const sender = new PutSender({
    policy: new FetchPolicy('public', [], allow),
    userAgent: 'storybar/test',
    times: { ...times, ...changes },
  });
  const file = {
    bytes: BODY.length,
    contentType: 'image/png',
    body: Readable.from([BODY.subarray(0, 9), BODY.subarray(9)]),
  };
  return await sender.send({ url, headers: { 'x-amz-acl': 'private' } }, file, NEVER);
}

/** A receiver below HTTP, which sends these bytes to every client that connects. */
async function startRawReceiver(response: string): Promise<{ readonly url: string; stop(): void }> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, stop: () => server.close() };
}

describe('sending a file', () => {
  it('a file arrives by one PUT with its length, its type and the headers of the request', async () => {
    expect(await send(`${receiver.url}/ok?token=1`)).toEqual({ status: 200, mayRepeat: false });
    expect(receiver.files.get('/ok')?.equals(BODY)).toBe(true);
    expect(receiver.tries.at(-1)?.headers).toMatchObject({
      'content-length': String(BODY.length),
      'content-type': 'image/png',
      'x-amz-acl': 'private',
      'user-agent': 'storybar/test',
    });
  });

  it('a receiver that refuses the file before it is sent gets no byte of it', async () => {
    const outcome = await send(`${receiver.url}/refuse-403`);
    expect(outcome).toMatchObject({ status: 403, mayRepeat: false });
    expect(outcome.error).toMatch(/responded with 403\.$/u);
    expect(receiver.tries.at(-1)).toMatchObject({ path: '/refuse-403', bytes: 0 });
  });

  it('a receiver that takes all or a part of the file and fails gets it again', async () => {
    expect(await send(`${receiver.url}/status-500`)).toMatchObject({ status: 500, mayRepeat: true });
    expect(await send(`${receiver.url}/part`)).toMatchObject({ status: null, mayRepeat: true });
  });

  it('redirects are refused, and statuses that say the request is wrong are final', async () => {
    const redirected = await send(`${receiver.url}/status-307`);
    expect(redirected).toMatchObject({ status: 307, mayRepeat: false });
    expect(redirected.error).toContain("Redirects aren't followed.");
    expect(receiver.triesOf('/elsewhere')).toBe(0);
    expect(await send(`${receiver.url}/status-400`)).toMatchObject({ mayRepeat: false });
    for (const status of [408, 425, 429, 503]) {
      expect(await send(`${receiver.url}/status-${status}`)).toMatchObject({ status, mayRepeat: true });
    }
  });

  it('a response that comes before the whole file does not count as success', async () => {
    const early = await startRawReceiver('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    const outcome = await send(early.url);
    expect(outcome).toMatchObject({ status: 200, mayRepeat: true });
    expect(outcome.error).toContain('before it had the whole file');
    early.stop();
  });

  it('a receiver that never says that it wants the file gets it nevertheless, and one that never responds is given up', async () => {
    const silent = await startRawReceiver('');
    const outcome = await send(silent.url, ['127.0.0.1'], { continueMs: 50, idleMs: 5_000 });
    expect(outcome).toMatchObject({ status: null, mayRepeat: true });
    expect(outcome.error).toContain('too slowly');
    silent.stop();
  });

  it('a receiver that has the whole file and does not respond is given up soon', async () => {
    const outcome = await send(`${receiver.url}/hold`, ['127.0.0.1'], { responseMs: 50 });
    expect(outcome).toMatchObject({ status: null, mayRepeat: true });
    expect(outcome.error).toContain('too slowly');
    expect(receiver.tries.at(-1)).toMatchObject({ path: '/hold', bytes: BODY.length });
    receiver.release();
  });

  it('addresses that are not public need STORYBAR_PUT_ALLOW, also behind a name, and http is only for those', async () => {
    for (const url of ['https://127.0.0.1/x', 'https://[::1]/x', 'https://10.1.2.3/x', 'https://169.254.169.254/x']) {
      await expect(send(url, [])).rejects.toThrow(/STORYBAR_PUT_ALLOW/u);
    }
    await expect(send('http://example.com/x', [])).rejects.toThrow('put_url must start with https://.');
    const byFetch = new FetchPolicy('any', ['127.0.0.1'], []);
    expect(byFetch.faultOf(new URL('https://127.0.0.1/x'), 'put')?.detail).toContain('STORYBAR_PUT_ALLOW');
    expect(new FetchPolicy('off', [], ['127.0.0.1']).faultOf(new URL('https://127.0.0.1/x'), 'put')?.code).toBe(
      'forbidden_address',
    );
  });

  it('failures name the host and never the query', async () => {
    const url = 'http://127.0.0.1:1099/x?signature=hidden';
    const outcome = await send(url);
    expect(outcome).toMatchObject({ status: null, mayRepeat: true });
    expect(outcome.error).toContain('127.0.0.1:1099');
    expect(JSON.stringify(outcome)).not.toContain('hidden');
  });
});
