import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Reporter } from './reporter.ts';
import { Sending } from './sending.ts';

/** Returns the message of the failed command, against a server that always responds in the same way. */
async function failureAt(status: number, code: string | undefined): Promise<string> {
  const body = code === undefined ? '<html>' : JSON.stringify({ status, code, detail: 'It failed.' });
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status, { 'retry-after': '0' }).end(body));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { signal } = new AbortController();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const reporter = new Reporter(process.stderr, true);
  const options = { url, key: 'k', reporter, print: () => undefined, signal, output: undefined, isDetached: true };
  const sent = new Sending(options).send(undefined, [['text', 'a']], 'mine');
  return await sent.then(
    () => 'none',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

it.each([
  [500, 'internal_error'],
  [502, undefined],
  [503, 'overloaded'],
  [504, 'deadline_exceeded'],
  [408, 'upload_too_slow'],
  [409, 'idempotency_in_flight'],
])('says how to repeat an upload with the same key after status %i with the code %s', async (status, code) => {
  expect(await failureAt(status, code)).toContain('Repeat the command with --idempotency-key mine');
});

it.each([
  [400, 'invalid_fields'],
  [422, 'idempotency_mismatch'],
  [429, 'quota_exceeded'],
])('does not advise to repeat an upload after status %i with the code %s', async (status, code) => {
  expect(await failureAt(status, code)).toBe('It failed.');
});
