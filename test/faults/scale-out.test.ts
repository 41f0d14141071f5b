// A front, workers and a broker as real processes that die, freeze and come back in the middle of a render.

import { existsSync } from 'node:fs';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { hasNats, type RunningNats, startNats } from '../running-nats.ts';
import { form, health, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { startStallingProxy } from '../stalling-proxy.ts';
import { type RunningWorker, startWorker } from '../running-worker.ts';

const FRONT = { STORYBAR_WORKERS: '0', STORYBAR_VIDEO_WORKERS: '0', STORYBAR_INTERNAL_PORT: '0' };

describe.skipIf(!hasNats)('renders elsewhere (needs nats-server)', () => {
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

  async function front(environment: Record<string, string> = {}): Promise<RunningServer> {
    const server = await startServer({ ...FRONT, STORYBAR_NATS_URL: nats.url, ...environment });
    running.push(server);
    return server;
  }

  async function worker(environment: Record<string, string> = {}): Promise<RunningWorker> {
    const started = await startWorker(nats.url, environment);
    running.push(started);
    await until(() => started.health().then(({ isConnected, renderer }) => isConnected && renderer.images.ready > 0));
    return started;
  }

  /** Until the front has heard of as many slots. */
  const sees = (server: RunningServer, slots: number): Promise<true> =>
    until(() => health(server).then(({ renderer }) => renderer.images.ready === slots));

  const isBusy = async (one: RunningWorker): Promise<boolean> => (await one.health()).busy.image > 0;
  /** A worker whose own process is in the middle of the render, with the asset on its disk. */
  const isRendering = async (one: RunningWorker): Promise<boolean> => {
    const { busy, renderer } = await one.health();
    return busy.image > 0 && renderer.images.busy > 0;
  };

  const isQueueEmpty = async (server: RunningServer): Promise<boolean> => {
    const { waiting, taken } = (await health(server)).renderer.remote?.queue.images ?? { waiting: -1, taken: -1 };
    return waiting === 0 && taken === 0;
  };

  function begin(server: RunningServer, signal?: AbortSignal): Promise<Response> {
    const answer = post(server, form({ asset: slow, text: 'slow' }), signal ? { signal } : {});
    answer.catch(() => undefined);
    return answer;
  }

  async function expectPicture(answer: Promise<Response>): Promise<void> {
    const response = await answer;
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1_000_000);
  }

  it('serves the caller although the worker is killed', async () => {
    const [server, ...workers] = await Promise.all([front(), worker(), worker()]);
    await sees(server, 2);
    const answer = begin(server);
    const victim = await until(async () => {
      const rendering = await Promise.all(workers.map(isRendering));
      return workers[rendering.indexOf(true)];
    });
    const other = workers[workers.indexOf(victim) === 0 ? 1 : 0] ?? victim;
    const children = victim.childPids();
    victim.signal('SIGKILL');
    await expectPicture(answer);
    expect(await until(() => other.health().then(({ tickets }) => tickets.used))).toBeGreaterThan(0);
    await until(() => children.every((pid) => !existsSync(`/proc/${pid}`)));
    await until(() => other.workDirectories().length === 0 && server.workDirectories().length === 0);
  });

  /** As a broker would that forgets. */
  async function purgeTickets(): Promise<void> {
    const connection = await connect({ servers: nats.url.replace('nats://', '') });
    const { streams } = await jetstreamManager(connection);
    await until(async () => (await streams.purge('STORYBAR_TICKETS', { filter: 'storybar.tickets.image' })).purged > 0);
    await connection.close();
  }

  async function freezeInTheMiddle() {
    const [server, frozen] = await Promise.all([front(), worker()]);
    await sees(server, 1);
    const answer = begin(server);
    await until(() => isRendering(frozen));
    frozen.signal('SIGSTOP');
    return { server, frozen, answer };
  }

  it('serves the caller although the worker freezes, and does not take its late result', async () => {
    const { server, frozen, answer } = await freezeInTheMiddle();
    const second = await worker();
    await expectPicture(answer);
    expect(await until(() => second.health().then(({ tickets }) => tickets.used))).toBe(1);
    frozen.signal('SIGCONT');
    await until(() => isBusy(frozen).then((busy) => !busy));
    expect(frozen.workDirectories()).toEqual([]);
    await until(() => isQueueEmpty(server));
  });

  it('serves the caller although the worker freezes and the broker does not deliver the ticket again', async () => {
    const { frozen, answer } = await freezeInTheMiddle();
    await purgeTickets();
    const second = await worker();
    await expectPicture(answer);
    expect(await until(() => second.health().then(({ tickets }) => tickets.used))).toBe(1);
    frozen.signal('SIGCONT');
    await until(() => isBusy(frozen).then((busy) => !busy));
  });

  it('serves the caller although the line to the worker goes dead without a word', async () => {
    const line = await startStallingProxy();
    running.push(line);
    const server = await front({ STORYBAR_INTERNAL_PORT: String(line.targetPort), STORYBAR_INTERNAL_URL: line.url });
    const only = await worker();
    await sees(server, 1);
    const answer = begin(server);
    await until(() => isRendering(only));
    line.stall();
    await expectPicture(answer);
    expect((await only.health()).tickets.again).toBe(1);
    expect(only.workDirectories()).toHaveLength(0);
  });

  it('leaves nothing on the workers when the front is killed', async () => {
    const [server, only] = await Promise.all([front(), worker()]);
    await sees(server, 1);
    void begin(server);
    await until(() => isRendering(only));
    server.signal('SIGKILL');
    await until(() => isBusy(only).then((busy) => !busy));
    expect(only.workDirectories()).toEqual([]);
    // What it was doing ends in the trash and not in a circle, and the worker serves the next front.
    const next = await front();
    await sees(next, 1);
    await expectPicture(begin(next));
    await until(() => isQueueEmpty(next));
  });

  it('stops the work elsewhere when the client goes away', async () => {
    const [server, only] = await Promise.all([front(), worker()]);
    await sees(server, 1);
    const client = new AbortController();
    const answer = begin(server, client.signal);
    await until(() => isRendering(only));
    client.abort();
    await expect(answer).rejects.toThrow('aborted');
    await until(() => isBusy(only).then((busy) => !busy), 3_000);
    await until(() => only.workDirectories().length === 0 && server.workDirectories().length === 0);
  });

  it('finishes what runs when the broker is killed, and goes on when it is back', async () => {
    const [server, only] = await Promise.all([front(), worker()]);
    await sees(server, 1);
    const answer = begin(server);
    await until(() => isRendering(only));
    await nats.kill();
    await expectPicture(answer);
    await until(() => health(server).then(({ renderer }) => renderer.remote?.isConnected === false));
    const refused = await post(server, form({ width: '64', height: '64', text: 'a' }));
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'renderer_unavailable' });
    await nats.restart();
    // Slots it has heard of before count for some seconds, whether or not the broker is back.
    await until(() => health(server).then(({ renderer }) => renderer.remote?.isConnected === true));
    await sees(server, 1);
    await expectPicture(begin(server));
  });

  it('serves whoever was waiting when the broker lost its memory', async () => {
    const [server, only] = await Promise.all([front(), worker()]);
    await sees(server, 1);
    const slowAnswer = begin(server);
    await until(() => isRendering(only));
    const waiting = post(server, form({ width: '64', height: '64', text: 'a' }));
    await until(() => health(server).then(({ renderer }) => renderer.images.waiting === 1));
    await nats.kill();
    await nats.restart();
    expect((await waiting).status).toBe(200);
    await expectPicture(slowAnswer);
  });

  it('serves whoever was waiting when the broker lost his ticket', async () => {
    const [server, only] = await Promise.all([front(), worker()]);
    await sees(server, 1);
    const slowAnswer = begin(server);
    await until(() => isRendering(only));
    const waiting = post(server, form({ width: '64', height: '64', text: 'a' }));
    await purgeTickets();
    await expectPicture(slowAnswer);
    expect((await waiting).status).toBe(200);
  });

  it('renders here while there is no broker or no worker, where the front has slots of its own', async () => {
    const server = await front({ STORYBAR_WORKERS: '1', STORYBAR_VIDEO_WORKERS: '1' });
    const small = form({ width: '64', height: '64', text: 'a' });
    expect((await post(server, small)).status).toBe(200);
    await nats.kill();
    expect((await post(server, small)).status).toBe(200);
    await nats.restart();
    const only = await worker();
    await sees(server, 2);
    expect((await post(server, small)).status).toBe(200);
    expect(await until(() => only.health().then(({ tickets }) => tickets.used))).toBe(1);
  });

  it('says 503 soon when no worker is there', async () => {
    const server = await front();
    const response = await post(server, form({ width: '64', height: '64', text: 'a' }));
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await problemOf(response)).toMatchObject({ status: 503, code: 'renderer_unavailable' });
  });

  it('loses no request while workers are replaced one after the other', async () => {
    const [server, first, second] = await Promise.all([front(), worker(), worker()]);
    await sees(server, 2);
    const statuses: number[] = [];
    const over = new AbortController();
    const callers = [1, 2, 3].map(async () => {
      while (!over.signal.aborted) {
        const response = await post(server, form({ width: '320', height: '320', text: 'again' }));
        await response.arrayBuffer();
        statuses.push(response.status);
      }
    });
    for (const old of [first, second]) {
      await worker();
      old.signal('SIGTERM');
      expect(await old.exited).toEqual({ code: 0, signal: null });
    }
    over.abort();
    await Promise.all(callers);
    expect(statuses.length).toBeGreaterThan(10);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('finishes a render before a worker leaves', async () => {
    const [server, only] = await Promise.all([front(), worker()]);
    await sees(server, 1);
    const answer = begin(server);
    await until(() => isRendering(only));
    only.signal('SIGTERM');
    await until(() => only.health().then(({ status }) => status === 'draining'));
    await expectPicture(answer);
    expect(await only.exited).toEqual({ code: 0, signal: null });
  });

  it('shares workers between fronts', async () => {
    const one = await front();
    const two = await front({ STORYBAR_DATA_DIR: one.dataDirectory });
    await worker();
    await Promise.all([sees(one, 1), sees(two, 1)]);
    const answers = await Promise.all(
      [one, two, one, two].map((server) =>
        post({ url: server.url, key: one.key }, form({ width: '64', height: '64', text: 'a' })),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});
