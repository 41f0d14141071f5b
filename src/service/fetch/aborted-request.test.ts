import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { sendChecked } from './checked-request.ts';
import { FetchPolicy } from './fetch-policy.ts';

it('nothing is sent when the signal was aborted before the request', async () => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const policy = new FetchPolicy('public', ['127.0.0.1']);
  const attempt = AbortSignal.abort(new Error('too late'));
  const { signal } = new AbortController();
  await expect(sendChecked(url, { policy, headers: {} }, attempt, signal)).rejects.toThrow('too late');
  expect(requests).toBe(0);
});
