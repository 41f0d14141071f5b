// API servers and worker nodes with incompatible versions report it, and don't use each other.

import { jetstream } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROTOCOL } from '../../src/service/dispatch/remote/shared/protocol.ts';
import { LEVELS, logLines } from '../log-lines.ts';
import { hasNats, type RunningNats, startNats } from '../running-nats.ts';
import { form, health, post, startServer, until } from '../running-server.ts';
import { startWorker } from '../running-worker.ts';

describe.skipIf(!hasNats)('versions that cannot work together (needs nats-server)', () => {
  let nats: RunningNats;
  let connection: NatsConnection;
  beforeAll(async () => {
    nats = await startNats();
    connection = await connect({ servers: nats.url });
  });
  afterAll(async () => {
    await connection.close();
    await nats.stop();
  });

  it('an API server ignores a worker node of another protocol and logs both versions once', async () => {
    const server = await startServer({
      STORYBAR_WORKERS: '0',
      STORYBAR_VIDEO_WORKERS: '0',
      STORYBAR_INTERNAL_PORT: '0',
      STORYBAR_NATS_URL: nats.url,
    });
    const slots = { image: 4, video: 1 };
    const presence = { worker: 'render-9', slots, ready: slots, busy: { image: 0, video: 0 }, isDraining: false };
    const announce = (): void =>
      connection.publish(
        'storybar.workers.render-9',
        JSON.stringify({ ...presence, protocol: PROTOCOL + 1, version: '9.0.0' }),
      );
    const announcing = setInterval(announce, 200);
    const isReport = ({ msg }: { msg: string }): boolean => msg === 'worker of an incompatible version ignored';
    const line = await until(() => logLines(server.output().stderr).find(isReport));
    expect(line).toMatchObject({
      level: LEVELS.error,
      worker: 'render-9',
      ourProtocol: PROTOCOL,
      theirProtocol: PROTOCOL + 1,
      theirVersion: '9.0.0',
    });
    expect((await health(server)).renderer.remote?.workers).toEqual({ images: 0, videos: 0 });
    const response = await post(server, form({ text: 'a', width: '64', height: '64' }));
    expect(response.status).toBe(503);
    clearInterval(announcing);
    expect(logLines(server.output().stderr).filter(isReport)).toHaveLength(1);
    await server.stop();
  });

  it('a worker node gives back a ticket of another protocol and logs both versions and the render id', async () => {
    const worker = await startWorker(nats.url);
    await until(() => worker.health().then(({ isConnected, renderer }) => isConnected && renderer.images.ready > 0));
    const ticket = {
      apiServer: 'http://127.0.0.1:9',
      session: '136baddd-222c-4011-a6ac-7c6054962783',
      generation: 1,
      token: 'x',
      expires: Date.now() + 60_000,
      renderId: '4bf92f35-77b3-4da6-a3ce-929d0e0e4736',
      protocol: PROTOCOL + 1,
      version: '9.0.0',
    };
    await jetstream(connection).publish('storybar.tickets.image', JSON.stringify(ticket));
    const line = await until(() =>
      logLines(worker.stderr()).find(({ msg }) => msg === 'ticket of an incompatible version given back'),
    );
    expect(line).toMatchObject({
      level: LEVELS.error,
      renderId: ticket.renderId,
      theirProtocol: PROTOCOL + 1,
      ourProtocol: PROTOCOL,
    });
    expect((await worker.health()).tickets.used).toBe(0);
    await worker.stop();
  });
});
