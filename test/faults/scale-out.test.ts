// An API server, workers and NATS as real processes that die, freeze and come back during a render.

import { existsSync } from 'node:fs';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { hasNats, type RunningNats, startNats } from '../running-nats.ts';
import { form, health, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { startStallingProxy } from '../stalling-proxy.ts';
import { type RunningWorker, startWorker } from '../running-worker.ts';

const API_SERVER = { STORYBAR_WORKERS: '0', STORYBAR_VIDEO_WORKERS: '0', STORYBAR_INTERNAL_PORT: '0' };

describe.skipIf(!hasNats)('rendering on other machines (needs nats-server)', () => {
  let nats: RunningNats;
  let slow: Buffer;
  const running: { stop(): Promise<void> }[] = [];
  beforeAll(async () => {
    [nats, slow] = await Promise.all([startNats(), noisyJpeg(6000, 4000)]);
  });
  afterAll(async () => {
    await nats.stop();
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((program) => program.stop()));
  });

  async function startApiServer(environment: Record<string, string> = {}): Promise<RunningServer> {
    const server = await startServer({ ...API_SERVER, STORYBAR_NATS_URL: nats.url, ...environment });
    running.push(server);
    return server;
  }

  async function startReadyWorker(environment: Record<string, string> = {}): Promise<RunningWorker> {
    const started = await startWorker(nats.url, environment);
    running.push(started);
    await until(() => started.health().then(({ isConnected, renderer }) => isConnected && renderer.images.ready > 0));
    return started;
  }

  /** Waits until the API server knows this many slots. */
  const waitForSlots = (server: RunningServer, slots: number): Promise<true> =>
    until(() => health(server).then(({ renderer }) => renderer.images.ready === slots));

  const isBusy = async (one: RunningWorker): Promise<boolean> => (await one.health()).busy.image > 0;
  /** The worker has fetched the asset and its process renders. */
  const isRendering = async (one: RunningWorker): Promise<boolean> => {
    const { busy, renderer } = await one.health();
    return busy.image > 0 && renderer.images.busy > 0;
  };

  const isQueueEmpty = async (server: RunningServer): Promise<boolean> => {
    const { waiting, taken } = (await health(server)).renderer.remote?.queue.images ?? { waiting: -1, taken: -1 };
    return waiting === 0 && taken === 0;
  };

  function startRender(server: RunningServer, signal?: AbortSignal): Promise<Response> {
    const response = post(server, form({ asset: slow, text: 'slow' }), signal ? { signal } : {});
    response.catch(() => undefined);
    return response;
  }

  async function expectImage(pending: Promise<Response>): Promise<void> {
    const response = await pending;
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1_000_000);
  }

  it('serves the client although the worker is killed', async () => {
    const [server, ...workers] = await Promise.all([startApiServer(), startReadyWorker(), startReadyWorker()]);
    await waitForSlots(server, 2);
    const response = startRender(server);
    const victim = await until(async () => {
      const rendering = await Promise.all(workers.map(isRendering));
      return workers[rendering.indexOf(true)];
    });
    const other = workers[workers.indexOf(victim) === 0 ? 1 : 0] ?? victim;
    const children = victim.childPids();
    victim.signal('SIGKILL');
    await expectImage(response);
    expect(await until(() => other.health().then(({ tickets }) => tickets.used))).toBeGreaterThan(0);
    await until(() => children.every((pid) => !existsSync(`/proc/${pid}`)));
    await until(() => other.workDirectories().length === 0 && server.workDirectories().length === 0);
  });

  /** Simulates a NATS server that has lost its tickets. */
  async function purgeTickets(): Promise<void> {
    const connection = await connect({ servers: nats.url.replace('nats://', '') });
    const { streams } = await jetstreamManager(connection);
    await until(async () => (await streams.purge('STORYBAR_TICKETS', { filter: 'storybar.tickets.image' })).purged > 0);
    await connection.close();
  }

  async function freezeDuringRender() {
    const [server, frozen] = await Promise.all([startApiServer(), startReadyWorker()]);
    await waitForSlots(server, 1);
    const response = startRender(server);
    await until(() => isRendering(frozen));
    frozen.signal('SIGSTOP');
    return { server, frozen, response };
  }

  it('serves the client although the worker freezes, and rejects its late result', async () => {
    const { server, frozen, response } = await freezeDuringRender();
    const second = await startReadyWorker();
    await expectImage(response);
    expect(await until(() => second.health().then(({ tickets }) => tickets.used))).toBe(1);
    frozen.signal('SIGCONT');
    await until(() => isBusy(frozen).then((busy) => !busy));
    expect(frozen.workDirectories()).toEqual([]);
    await until(() => isQueueEmpty(server));
  });

  it('serves the client although the worker freezes and NATS does not redeliver the ticket', async () => {
    const { frozen, response } = await freezeDuringRender();
    await purgeTickets();
    const second = await startReadyWorker();
    await expectImage(response);
    expect(await until(() => second.health().then(({ tickets }) => tickets.used))).toBe(1);
    frozen.signal('SIGCONT');
    await until(() => isBusy(frozen).then((busy) => !busy));
  });

  it('serves the client although the connection to the worker goes silent', async () => {
    const proxy = await startStallingProxy();
    running.push(proxy);
    const server = await startApiServer({
      STORYBAR_INTERNAL_PORT: String(proxy.targetPort),
      STORYBAR_INTERNAL_URL: proxy.url,
    });
    const only = await startReadyWorker();
    await waitForSlots(server, 1);
    const response = startRender(server);
    await until(() => isRendering(only));
    proxy.stall();
    await expectImage(response);
    expect((await only.health()).tickets.again).toBe(1);
    expect(only.workDirectories()).toHaveLength(0);
  });

  it('leaves nothing on the workers when the API server is killed', async () => {
    const [server, only] = await Promise.all([startApiServer(), startReadyWorker()]);
    await waitForSlots(server, 1);
    void startRender(server);
    await until(() => isRendering(only));
    server.signal('SIGKILL');
    await until(() => isBusy(only).then((busy) => !busy));
    expect(only.workDirectories()).toEqual([]);
    // Its ticket isn't redelivered forever, and the worker serves the next API server.
    const next = await startApiServer();
    await waitForSlots(next, 1);
    await expectImage(startRender(next));
    await until(() => isQueueEmpty(next));
  });

  it('stops the render on the worker when the client disconnects', async () => {
    const [server, only] = await Promise.all([startApiServer(), startReadyWorker()]);
    await waitForSlots(server, 1);
    const client = new AbortController();
    const response = startRender(server, client.signal);
    await until(() => isRendering(only));
    client.abort();
    await expect(response).rejects.toThrow('aborted');
    await until(() => isBusy(only).then((busy) => !busy), 3_000);
    await until(() => only.workDirectories().length === 0 && server.workDirectories().length === 0);
  });

  it('finishes running renders when NATS is killed and continues when it is back', async () => {
    const [server, only] = await Promise.all([startApiServer(), startReadyWorker()]);
    await waitForSlots(server, 1);
    const response = startRender(server);
    await until(() => isRendering(only));
    await nats.kill();
    await expectImage(response);
    await until(() => health(server).then(({ renderer }) => renderer.remote?.isConnected === false));
    const refused = await post(server, form({ width: '64', height: '64', text: 'a' }));
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'renderer_unavailable' });
    await nats.restart();
    // Slots from before count for some seconds, whether or not NATS is back.
    await until(() => health(server).then(({ renderer }) => renderer.remote?.isConnected === true));
    await waitForSlots(server, 1);
    await expectImage(startRender(server));
  });

  it('serves a waiting client although NATS restarts and loses all tickets', async () => {
    const [server, only] = await Promise.all([startApiServer(), startReadyWorker()]);
    await waitForSlots(server, 1);
    const slowResponse = startRender(server);
    await until(() => isRendering(only));
    const waiting = post(server, form({ width: '64', height: '64', text: 'a' }));
    await until(() => health(server).then(({ renderer }) => renderer.images.waiting === 1));
    await nats.kill();
    await nats.restart();
    expect((await waiting).status).toBe(200);
    await expectImage(slowResponse);
  });

  it('serves a waiting client although NATS loses its ticket', async () => {
    const [server, only] = await Promise.all([startApiServer(), startReadyWorker()]);
    await waitForSlots(server, 1);
    const slowResponse = startRender(server);
    await until(() => isRendering(only));
    const waiting = post(server, form({ width: '64', height: '64', text: 'a' }));
    await purgeTickets();
    await expectImage(slowResponse);
    expect((await waiting).status).toBe(200);
  });

  it('renders on local workers while NATS or all remote workers are unavailable', async () => {
    const server = await startApiServer({ STORYBAR_WORKERS: '1', STORYBAR_VIDEO_WORKERS: '1' });
    const small = form({ width: '64', height: '64', text: 'a' });
    expect((await post(server, small)).status).toBe(200);
    await nats.kill();
    expect((await post(server, small)).status).toBe(200);
    await nats.restart();
    const only = await startReadyWorker();
    await waitForSlots(server, 2);
    expect((await post(server, small)).status).toBe(200);
    expect(await until(() => only.health().then(({ tickets }) => tickets.used))).toBe(1);
  });

  it('returns 503 within seconds when there is no worker', async () => {
    const server = await startApiServer();
    const response = await post(server, form({ width: '64', height: '64', text: 'a' }));
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await problemOf(response)).toMatchObject({ status: 503, code: 'renderer_unavailable' });
  });

  it('fails no request while workers are replaced one after the other', async () => {
    const [server, first, second] = await Promise.all([startApiServer(), startReadyWorker(), startReadyWorker()]);
    await waitForSlots(server, 2);
    const statuses: number[] = [];
    const done = new AbortController();
    const clients = [1, 2, 3].map(async () => {
      while (!done.signal.aborted) {
        const response = await post(server, form({ width: '320', height: '320', text: 'again' }));
        await response.arrayBuffer();
        statuses.push(response.status);
      }
    });
    for (const old of [first, second]) {
      await startReadyWorker();
      old.signal('SIGTERM');
      expect(await old.exited).toEqual({ code: 0, signal: null });
    }
    done.abort();
    await Promise.all(clients);
    expect(statuses.length).toBeGreaterThan(10);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('finishes a render before a draining worker exits', async () => {
    const [server, only] = await Promise.all([startApiServer(), startReadyWorker()]);
    await waitForSlots(server, 1);
    const response = startRender(server);
    await until(() => isRendering(only));
    only.signal('SIGTERM');
    await until(() => only.health().then(({ status }) => status === 'draining'));
    await expectImage(response);
    expect(await only.exited).toEqual({ code: 0, signal: null });
  });

  it('shares workers between API servers', async () => {
    const one = await startApiServer();
    const two = await startApiServer({ STORYBAR_DATA_DIR: one.dataDirectory });
    await startReadyWorker();
    await Promise.all([waitForSlots(one, 1), waitForSlots(two, 1)]);
    const responses = await Promise.all(
      [one, two, one, two].map((server) =>
        post({ url: server.url, key: one.key }, form({ width: '64', height: '64', text: 'a' })),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});
