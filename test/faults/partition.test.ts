// Networks that go silent between programs that are all alive, and heal. Callers are served by somebody else or told so in
// time, nothing is charged twice, and everybody finds back without help.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { embeddedDatabase, type RunningDatabase } from '../running-database.ts';
import { hasNats, type RunningNats, startNats } from '../running-nats.ts';
import { form, health, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { type RunningWorker, startWorker } from '../running-worker.ts';
import { type StallingProxy, startStallingProxy } from '../stalling-proxy.ts';

const OVERLAY = { width: '64', height: '64', text: 'a' };
/** Longer than a front or a worker waits for a word of the other, or of the broker, before it gives the line up. */
const LONG_MS = 8_000;

describe.skipIf(!hasNats)('a network that is cut (needs nats-server)', () => {
  let nats: RunningNats;
  let slow: Buffer;
  let database: RunningDatabase;
  const running: { stop(): Promise<void> }[] = [];
  beforeAll(async () => {
    [nats, slow] = await Promise.all([startNats(), noisyJpeg(6000, 4000)]);
  });
  afterAll(async () => await nats.stop());
  afterEach(async () => {
    for (const program of running.splice(0).toReversed()) await program.stop();
    await database.remove();
  });

  async function line(target?: number): Promise<StallingProxy> {
    const proxy = await startStallingProxy(target);
    running.push(proxy);
    return proxy;
  }

  const toBroker = async (): Promise<StallingProxy> => await line(Number(new URL(nats.url).port));

  async function front(environment: Record<string, string> = {}): Promise<RunningServer> {
    database = embeddedDatabase();
    const server = await startServer({
      ...database.env,
      ...{ STORYBAR_WORKERS: '0', STORYBAR_VIDEO_WORKERS: '0', STORYBAR_INTERNAL_PORT: '0' },
      STORYBAR_NATS_URL: nats.url,
      ...environment,
    });
    running.push(server);
    return server;
  }

  async function worker(natsUrl = nats.url): Promise<RunningWorker> {
    const started = await startWorker(natsUrl);
    running.push(started);
    await until(() => started.health().then(({ status, renderer }) => status === 'ok' && renderer.images.ready > 0));
    return started;
  }

  const sees = (server: RunningServer, slots: number): Promise<true> =>
    until(() => health(server).then(({ renderer }) => renderer.images.ready === slots));
  const isRendering = async (one: RunningWorker): Promise<boolean> => {
    const { busy, renderer } = await one.health();
    return busy.image > 0 && renderer.images.busy > 0;
  };
  const isBack = async (one: RunningWorker): Promise<boolean> => {
    const { status, busy } = await one.health();
    return status === 'ok' && busy.image === 0;
  };

  function begin(server: RunningServer): Promise<Response> {
    const answer = post(server, form({ asset: slow, text: 'slow' }));
    answer.catch(() => undefined);
    return answer;
  }

  /** Status and whether every byte came. */
  async function received(answer: Promise<Response>): Promise<{ status: number; whole: boolean }> {
    const response = await answer;
    const { byteLength } = await response.arrayBuffer();
    return { status: response.status, whole: byteLength === Number(response.headers.get('content-length')) };
  }

  /** What was charged, once nothing is held any more. */
  async function charged(): Promise<unknown> {
    const held = "select count(*) as held from renders where state = 'reserved'";
    await until(async () => (await database.read(held))[0]?.['held'] === 0);
    return (await database.read("select count(*) as renders from renders where state = 'settled'"))[0]?.['renders'];
  }

  it('takes the result of a worker that lost the broker, and the worker finds back', async () => {
    const cutOff = await toBroker();
    const [server, only] = await Promise.all([front(), worker(`nats://127.0.0.1:${cutOff.port}`)]);
    await sees(server, 1);
    const answer = begin(server);
    await until(() => isRendering(only));
    cutOff.cut();
    expect(await received(answer)).toEqual({ status: 200, whole: true });
    await until(() => only.health().then(({ status }) => status === 'disconnected'));
    const refused = await post(server, form(OVERLAY));
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'renderer_unavailable' });
    cutOff.heal();
    await until(() => isBack(only));
    await sees(server, 1);
    expect(await received(post(server, form(OVERLAY)))).toEqual({ status: 200, whole: true });
    expect(await charged()).toBe(2);
  });

  it('has another worker serve the caller of one that is cut off from everybody, and wants no late result', async () => {
    const [queueLine, frontLine] = await Promise.all([toBroker(), line()]);
    // Workers are told one address of the front; the second comes when the first is cut off, and finds the line open to it.
    const server = await front({
      STORYBAR_INTERNAL_PORT: String(frontLine.targetPort),
      STORYBAR_INTERNAL_URL: frontLine.url,
    });
    const lost = await worker(`nats://127.0.0.1:${queueLine.port}`);
    await sees(server, 1);
    const answer = begin(server);
    await until(() => isRendering(lost));
    queueLine.cut();
    frontLine.stall();
    const second = await worker();
    expect(await received(answer)).toEqual({ status: 200, whole: true });
    expect((await second.health()).tickets.used).toBe(1);
    queueLine.heal();
    frontLine.heal();
    await until(() => isBack(lost));
    expect([lost.workDirectories(), (await lost.health()).tickets.used]).toEqual([[], 0]);
    await sees(server, 2);
    expect(await charged()).toBe(1);
  });

  it('serves the caller of the only worker when the network between them heals in time', async () => {
    const frontLine = await line();
    const server = await front({
      STORYBAR_INTERNAL_PORT: String(frontLine.targetPort),
      STORYBAR_INTERNAL_URL: frontLine.url,
    });
    const only = await worker();
    await sees(server, 1);
    const answer = begin(server);
    await until(() => isRendering(only));
    frontLine.cut();
    await until(() => only.health().then(({ tickets }) => tickets.again > 0));
    frontLine.heal();
    expect(await received(answer)).toEqual({ status: 200, whole: true });
    await until(() => isBack(only));
    expect(only.workDirectories()).toEqual([]);
    expect(await charged()).toBe(1);
  });

  it('finishes what runs when a front is cut off from the broker, refuses the rest in time, and goes on', async () => {
    const cutOff = await toBroker();
    const server = await front({ STORYBAR_NATS_URL: `nats://127.0.0.1:${cutOff.port}` });
    const only = await worker();
    await sees(server, 1);
    const answer = begin(server);
    await until(() => isRendering(only));
    cutOff.cut();
    // The first comes before anybody has noticed.
    const refused = await Promise.all([post(server, form(OVERLAY)), post(server, form(OVERLAY))]);
    for (const response of refused) {
      expect(response.headers.get('retry-after')).toBe('2');
      expect(await problemOf(response)).toMatchObject({ status: 503, code: 'renderer_unavailable' });
    }
    expect(await received(answer)).toEqual({ status: 200, whole: true });
    await until(() => health(server).then(({ renderer }) => renderer.remote?.isConnected === false));
    expect((await fetch(`${server.url}/ready`)).status).toBe(503);
    cutOff.heal();
    await sees(server, 1);
    expect(await received(post(server, form(OVERLAY)))).toEqual({ status: 200, whole: true });
    expect(await charged()).toBe(2);
    await until(() => isBack(only));
  });

  it('renders here while a front with slots of its own is cut off from the broker', async () => {
    const cutOff = await toBroker();
    const server = await front({
      STORYBAR_NATS_URL: `nats://127.0.0.1:${cutOff.port}`,
      STORYBAR_WORKERS: '1',
      STORYBAR_VIDEO_WORKERS: '1',
    });
    const only = await worker();
    await sees(server, 2);
    cutOff.cut();
    const answers = await Promise.all([1, 2, 3].map(async () => await received(post(server, form(OVERLAY)))));
    expect(answers).toEqual(Array.from({ length: 3 }, () => ({ status: 200, whole: true })));
    await new Promise((resolve) => setTimeout(resolve, LONG_MS));
    expect(await received(post(server, form(OVERLAY)))).toEqual({ status: 200, whole: true });
    expect((await only.health()).tickets.used).toBe(0);
    cutOff.heal();
    await sees(server, 2);
    expect(await received(post(server, form(OVERLAY)))).toEqual({ status: 200, whole: true });
    await until(() => only.health().then(({ tickets }) => tickets.used > 0));
    expect(await charged()).toBe(5);
  });
});
