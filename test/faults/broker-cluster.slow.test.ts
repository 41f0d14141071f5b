// A NATS cluster of three servers that loses the leader of the queue.

import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../free-port.ts';
import { hasNats, type RunningNats, startNats } from '../running-nats.ts';
import { form, health, post, type RunningServer, startServer, until } from '../running-server.ts';
import { type RunningWorker, startWorker } from '../running-worker.ts';

const NAMES = ['one', 'two', 'three'];
/** The pause between two requests of one client. */
const PAUSE_MS = 50;
const OVERLAY = { width: '64', height: '64', text: 'a' };

describe.skipIf(!hasNats)('a NATS cluster (needs nats-server)', () => {
  let brokers: RunningNats[];
  let server: RunningServer;
  let worker: RunningWorker;
  beforeAll(async () => {
    const ports = await Promise.all(NAMES.map(freePort));
    const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(', ');
    const configurationOf = (name: string, index: number): string =>
      `server_name: ${name}\njetstream { store_dir: x }\n` +
      `cluster { name: storybar, listen: "127.0.0.1:${ports[index]}", routes: [${routes}] }\n`;
    brokers = await Promise.all(NAMES.map((name, index) => startNats({ configuration: configurationOf(name, index) })));
    const url = brokers.map((broker) => broker.url).join(',');
    [server, worker] = await Promise.all([
      startServer({
        STORYBAR_WORKERS: '0',
        STORYBAR_VIDEO_WORKERS: '0',
        STORYBAR_INTERNAL_PORT: '0',
        STORYBAR_NATS_URL: url,
        STORYBAR_NATS_REPLICAS: '3',
      }),
      startWorker(url, { STORYBAR_NATS_REPLICAS: '3' }),
    ]);
    await until(() => health(server).then(({ renderer }) => renderer.images.ready === 1));
  });
  afterAll(async () => {
    await server.stop();
    await worker.stop();
    await Promise.all(brokers.map((broker) => broker.stop()));
  });

  /** Returns the state of the queue, from any server that is alive. */
  async function queue(): Promise<{ replicas: number; leader: string; isComplete: boolean }> {
    const servers = brokers.map(({ url }) => url.replace('nats://', ''));
    const connection = await connect({ servers });
    try {
      const { config, cluster } = await (await jetstreamManager(connection)).streams.info('STORYBAR_TICKETS');
      const followers = cluster?.replicas ?? [];
      const isComplete = followers.length === 2 && followers.every(({ current, offline }) => current && !offline);
      return { replicas: config.num_replicas, leader: cluster?.leader ?? '', isComplete };
    } finally {
      await connection.close();
    }
  }

  it('a NATS cluster fails no request although the leader of the queue is killed twice', async () => {
    const statuses: number[] = [];
    const done = new AbortController();
    const clients = [1, 2, 3].map(async () => {
      while (!done.signal.aborted) {
        const response = await post(server, form(OVERLAY));
        await response.arrayBuffer();
        statuses.push(response.status);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    });
    for (let round = 0; round < 2; round += 1) {
      const { replicas, leader } = await until(async () => {
        // There is no response during an election.
        const now = await queue().catch(() => undefined);
        return now?.isComplete && now;
      });
      expect(replicas).toBe(3);
      const victim = brokers[NAMES.indexOf(leader)];
      await victim?.kill();
      const before = statuses.length;
      await until(() => statuses.length > before + 20);
      await victim?.restart();
    }
    done.abort();
    await Promise.all(clients);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});
