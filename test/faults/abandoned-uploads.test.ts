// Clients that send the first bytes of a photo and leave must not take places in the queue from others.

import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { plansFile } from '../plans-file.ts';
import { form, post, type RunningServer, startServer } from '../running-server.ts';

const ABANDONED_PER_ROUND = 15;

let server: RunningServer;
let photo: Buffer;
let attackers: string[];
beforeAll(async () => {
  server = await startServer({ STORYBAR_PLANS: plansFile({ free: {} }), STORYBAR_WORKERS: '1', STORYBAR_QUEUE: '4' });
  photo = await noisyJpeg(300, 300);
  attackers = await Promise.all(
    [1, 2, 3].map(async () => {
      const created = await server.cli('keys', 'create', '--plan', 'free', '--json');
      return (JSON.parse(created) as { key: string }).key;
    }),
  );
});
afterAll(async () => {
  await server.stop();
});

/** Sends 9 KB of a photo, then resets the connection. */
async function abandonUpload(key: string): Promise<void> {
  const upload = request(`${server.url}/v1/overlay`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'multipart/form-data; boundary=b', 'content-length': 1_000_000 },
  });
  upload.on('error', () => undefined);
  upload.write('--b\r\ncontent-disposition: form-data; name="asset"; filename="a.jpg"\r\n\r\n');
  upload.write(photo.subarray(0, 9_000));
  await sleep(30);
  upload.destroy();
}

it('the server serves every request of an account while three others abandon uploads', async () => {
  const statuses: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const abandoned = attackers.flatMap((key) =>
      Array.from({ length: ABANDONED_PER_ROUND }, async () => await abandonUpload(key)),
    );
    const response = await post(server, form({ asset: photo, text: 'Hello' }));
    statuses.push(response.status);
    await response.arrayBuffer();
    await Promise.all(abandoned);
  }
  expect(statuses).toEqual(Array.from({ length: 10 }, () => 200));
});
