// An API server without workers of its own, while NATS is down.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { hasNats, type RunningNats, startNats } from '../running-nats.ts';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { type RunningWorker, startWorker } from '../running-worker.ts';

describe.skipIf(!hasNats)('an API server without NATS (needs nats-server)', () => {
  let nats: RunningNats;
  let server: RunningServer;
  let worker: RunningWorker | undefined;
  beforeAll(async () => {
    nats = await startNats();
    const env = { STORYBAR_NATS_URL: nats.url, STORYBAR_WORKERS: '0', STORYBAR_VIDEO_WORKERS: '0' };
    server = await startServer({ ...env, STORYBAR_INTERNAL_PORT: '0' });
    await nats.kill();
  });
  afterAll(async () => {
    await worker?.stop();
    await server.stop();
    await nats.stop();
  });

  it('an API server without NATS accepts asynchronous requests, also by field, refuses others, and renders when NATS is back', async () => {
    const photo = await noisyJpeg(320, 240);
    const refused = await until(async () => {
      const response = await post(server, form({ asset: photo, text: 'Now' }));
      const problem = await problemOf(response);
      return problem.detail.startsWith('Render workers are unreachable') && problem;
    });
    expect(refused).toMatchObject({ status: 503, code: 'renderer_unavailable' });
    // The file comes first, so the server learns last that the request is asynchronous.
    const accepted = [
      await post(server, form({ asset: photo, text: 'Later', async: 'true' })),
      await post(server, form({ width: '320', height: '240', text: 'Later', async: 'true' })),
      await post(server, form({ asset: photo, text: 'Later' }), { headers: { prefer: 'respond-async' } }),
    ];
    expect(accepted.map(({ status }) => status)).toEqual([202, 202, 202]);
    await nats.restart();
    worker = await startWorker(nats.url);
    await until(async () => {
      const response = await fetch(`${server.url}/v1/renders`, { headers: { 'x-api-key': server.key } });
      const { renders } = (await response.json()) as { renders: { status: string }[] };
      return renders.length === 3 && renders.every(({ status }) => status === 'succeeded');
    });
  });
});
