// The files in deploy/ with the programs they are for, where those are installed.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkConfiguration, hasHaproxy, SHIPPED_CONFIGURATION } from './running-haproxy.ts';
import { hasNats, startNats } from './running-nats.ts';
import { form, health, post, startServer, until } from './running-server.ts';
import { startWorker } from './running-worker.ts';

const DEPLOY = path.resolve(import.meta.dirname, '../deploy');

describe.skipIf(!hasHaproxy)('the load balancer (needs haproxy)', () => {
  it('accepts its configuration', () => {
    const { status, said } = checkConfiguration(SHIPPED_CONFIGURATION);
    expect({ status, warnings: said.includes('WARNING') }).toEqual({ status: 0, warnings: false });
  });
});

describe.skipIf(!hasNats)('the broker (needs nats-server)', () => {
  it('lets fronts and workers do what they must with the rights they are given', async () => {
    const environment = { NATS_FRONT_PASSWORD: 'front-secret', NATS_WORKER_PASSWORD: 'worker-secret' };
    const nats = await startNats({ configuration: readFileSync(path.join(DEPLOY, 'nats.conf'), 'utf8'), environment });
    const urlFor = (user: string, password: string): string => nats.url.replace('//', `//${user}:${password}@`);
    const [server, worker] = await Promise.all([
      startServer({
        STORYBAR_NATS_URL: urlFor('front', environment.NATS_FRONT_PASSWORD),
        STORYBAR_WORKERS: '0',
        STORYBAR_VIDEO_WORKERS: '0',
        STORYBAR_INTERNAL_PORT: '0',
      }),
      startWorker(urlFor('worker', environment.NATS_WORKER_PASSWORD)),
    ]);
    try {
      await until(() => health(server).then(({ renderer }) => renderer.images.ready === 1));
      const response = await post(server, form({ width: '64', height: '64', text: 'a' }));
      expect(response.status).toBe(200);
      await until(() => worker.health().then(({ tickets }) => tickets.used === 1));
      await until(() =>
        health(server).then(({ renderer }) => renderer.remote?.queue.images.taken === 0 && renderer.remote.isConnected),
      );
    } finally {
      await server.stop();
      await worker.stop();
      await nats.stop();
    }
  });
});
