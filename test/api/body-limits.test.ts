// Chunked bodies, whose size is unknown in advance: bounded as a whole, and counted against the upload budget.

import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { plansFile } from '../plans-file.ts';
import { type RunningServer, startServer } from '../running-server.ts';

const MB = 1_000_000;

let server: RunningServer;
beforeAll(async () => {
  const plans = plansFile({ free: { limits: { imageBytes: 20 * MB, videoBytes: 80 * MB } } });
  server = await startServer({ STORYBAR_PLANS: plans, STORYBAR_UPLOAD_MB: '100' });
});
afterAll(async () => {
  await server.stop();
});

function startChunked(): ClientRequest {
  return request(`${server.url}/v1/overlay`, {
    method: 'POST',
    headers: {
      'x-api-key': server.key,
      'content-type': 'multipart/form-data; boundary=b',
      'transfer-encoding': 'chunked',
    },
  });
}

async function responseTo(
  upload: ClientRequest,
): Promise<{ readonly status: number | undefined; readonly code: string }> {
  const [response] = (await once(upload, 'response')) as [IncomingMessage];
  const { code } = JSON.parse(await text(response)) as { code: string };
  return { status: response.statusCode, code };
}

it('the server stops reading an endless text field with 413', async () => {
  const upload = startChunked();
  const response = responseTo(upload);
  upload.on('error', () => undefined);
  upload.write('--b\r\ncontent-disposition: form-data; name="text"\r\n\r\n');
  const chunk = Buffer.alloc(MB, 'a');
  // More than the limit of 80 MB for an asset and 2 MB for everything else.
  for (let sent = 0; sent < 90; sent += 1) {
    if (!upload.write(chunk)) await Promise.race([once(upload, 'drain'), sleep(1_000)]);
  }
  expect(await response).toMatchObject({ status: 413, code: 'asset_too_large' });
  upload.destroy();
});

it('the server refuses chunked uploads that exceed the upload budget together', async () => {
  const head = '--b\r\ncontent-disposition: form-data; name="asset"; filename="a.mp4"\r\n\r\n';
  const uploads = [startChunked(), startChunked(), startChunked()];
  const codes: string[] = [];
  for (const upload of uploads) {
    upload.on('error', () => undefined);
    responseTo(upload).then(
      ({ code }) => codes.push(code),
      () => undefined,
    );
    upload.write(head);
    upload.write(Buffer.concat([Buffer.from('00000018667479706d70343200000000', 'hex'), Buffer.alloc(1_000)]));
  }
  const chunk = Buffer.alloc(MB);
  for (let sent = 0; sent < 60; sent += 1) {
    for (const upload of uploads) {
      if (!upload.destroyed && !upload.write(chunk)) await Promise.race([once(upload, 'drain'), sleep(1_000)]);
    }
  }
  await expect.poll(() => codes).toContain('storage_unavailable');
  for (const upload of uploads) upload.destroy();
});
