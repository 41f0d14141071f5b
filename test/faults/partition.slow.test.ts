// Network partitions between processes that are all alive. Clients are served by another worker or get an error in time,
// no render is charged twice, and everything reconnects by itself when the network heals.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { embeddedDatabase, type RunningDatabase } from '../running-database.ts';
import { hasNats } from '../running-nats.ts';
import { form, health, post, problemOf, type RunningServer, until } from '../running-server.ts';
import type { RunningWorker } from '../running-worker.ts';
import { type StallingProxy, startStallingProxy } from '../stalling-proxy.ts';
import { Fleet, OVERLAY, waitForSlots } from './fleet.ts';

/** Longer than API servers, workers and NATS wait for each other before they close a connection. */
const LONG_MS = 8_000;

describe.skipIf(!hasNats)('a network partition (needs nats-server)', () => {
  let fleet: Fleet;
  let database: RunningDatabase;
  beforeAll(async () => {
    fleet = await Fleet.start();
  });
  afterAll(async () => await fleet.stop());
  afterEach(async () => {
    await fleet.stopPrograms();
    await database.remove();
  });

  async function startProxy(target?: number): Promise<StallingProxy> {
    return fleet.add(await startStallingProxy(target));
  }

  const startProxyToNats = async (): Promise<StallingProxy> => await startProxy(Number(new URL(fleet.nats.url).port));

  async function startApiServer(environment: Record<string, string> = {}): Promise<RunningServer> {
    database = embeddedDatabase();
    return await fleet.startApiServer({ ...database.env, ...environment });
  }

  const isBack = async (one: RunningWorker): Promise<boolean> => {
    const { status, busy } = await one.health();
    return status === 'ok' && busy.image === 0;
  };

  /** The status, and whether the body is complete. */
  async function received(pending: Promise<Response>): Promise<{ status: number; isComplete: boolean }> {
    const response = await pending;
    const { byteLength } = await response.arrayBuffer();
    return { status: response.status, isComplete: byteLength === Number(response.headers.get('content-length')) };
  }

  /** The number of charged renders, once no reservation is open. */
  async function charged(): Promise<unknown> {
    const held = "select count(*) as held from holds where state = 'reserved'";
    await until(async () => (await database.read(held))[0]?.['held'] === 0);
    return (await database.read("select count(*) as renders from holds where state = 'settled'"))[0]?.['renders'];
  }

  it('the result of a worker that lost NATS is accepted, and the worker reconnects', async () => {
    const proxy = await startProxyToNats();
    const [server, only] = await Promise.all([
      startApiServer(),
      fleet.startReadyWorker(`nats://127.0.0.1:${proxy.port}`),
    ]);
    await waitForSlots(server, 1);
    const { response, resume, missed } = await fleet.startHeldRender(server, [only]);
    proxy.cut();
    resume();
    expect(await received(response)).toEqual({ status: 200, isComplete: true });
    await until(() => only.health().then(({ status }) => status === 'disconnected'));
    const refused = await post(server, form(OVERLAY));
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'renderer_unavailable' });
    proxy.heal();
    await until(() => isBack(only));
    await waitForSlots(server, 1);
    expect(await received(post(server, form(OVERLAY)))).toEqual({ status: 200, isComplete: true });
    expect(await charged()).toBe(2 + missed);
  });

  it('the client of a worker that is cut off is served by another one, and the late result is rejected', async () => {
    const [natsProxy, apiServerProxy] = await Promise.all([startProxyToNats(), startProxy()]);
    // Tickets contain one address of the API server. New connections through the proxy work, so the second worker gets in.
    const server = await startApiServer({
      STORYBAR_INTERNAL_PORT: String(apiServerProxy.targetPort),
      STORYBAR_INTERNAL_URL: apiServerProxy.url,
    });
    const lost = await fleet.startReadyWorker(`nats://127.0.0.1:${natsProxy.port}`);
    await waitForSlots(server, 1);
    const { response, resume, missed } = await fleet.startHeldRender(server, [lost]);
    natsProxy.cut();
    apiServerProxy.stall();
    const second = await fleet.startReadyWorker();
    expect(await received(response)).toEqual({ status: 200, isComplete: true });
    expect((await second.health()).tickets.used).toBe(1);
    resume();
    natsProxy.heal();
    apiServerProxy.heal();
    await until(() => isBack(lost));
    expect([lost.workDirectories(), (await lost.health()).tickets.used]).toEqual([[], missed]);
    await waitForSlots(server, 2);
    expect(await charged()).toBe(1 + missed);
  });

  it('the client of the only worker is served when the network between them heals in time', async () => {
    const apiServerProxy = await startProxy();
    const server = await startApiServer({
      STORYBAR_INTERNAL_PORT: String(apiServerProxy.targetPort),
      STORYBAR_INTERNAL_URL: apiServerProxy.url,
    });
    const only = await fleet.startReadyWorker();
    await waitForSlots(server, 1);
    const { response, resume, missed } = await fleet.startHeldRender(server, [only]);
    apiServerProxy.cut();
    resume();
    await until(() => only.health().then(({ tickets }) => tickets.again > 0));
    apiServerProxy.heal();
    expect(await received(response)).toEqual({ status: 200, isComplete: true });
    await until(() => isBack(only));
    expect(only.workDirectories()).toEqual([]);
    expect(await charged()).toBe(1 + missed);
  });

  it('an API server that lost NATS finishes running renders, refuses new ones in time, and recovers', async () => {
    const proxy = await startProxyToNats();
    const server = await startApiServer({ STORYBAR_NATS_URL: `nats://127.0.0.1:${proxy.port}` });
    const only = await fleet.startReadyWorker();
    await waitForSlots(server, 1);
    const { response, resume, missed } = await fleet.startHeldRender(server, [only]);
    proxy.cut();
    // The first one arrives before the lost connection is noticed.
    const refused = await Promise.all([post(server, form(OVERLAY)), post(server, form(OVERLAY))]);
    for (const refusal of refused) {
      expect(refusal.headers.get('retry-after')).toBe('2');
      expect(await problemOf(refusal)).toMatchObject({ status: 503, code: 'renderer_unavailable' });
    }
    resume();
    expect(await received(response)).toEqual({ status: 200, isComplete: true });
    await until(() => health(server).then(({ renderer }) => renderer.remote?.isConnected === false));
    expect((await fetch(`${server.url}/ready`)).status).toBe(200);
    proxy.heal();
    await waitForSlots(server, 1);
    expect(await received(post(server, form(OVERLAY)))).toEqual({ status: 200, isComplete: true });
    expect(await charged()).toBe(2 + missed);
    await until(() => isBack(only));
  });

  it('renders on local workers while the API server is cut off from NATS', async () => {
    const proxy = await startProxyToNats();
    const server = await startApiServer({
      STORYBAR_NATS_URL: `nats://127.0.0.1:${proxy.port}`,
      STORYBAR_WORKERS: '1',
      STORYBAR_VIDEO_WORKERS: '1',
    });
    const only = await fleet.startReadyWorker();
    await waitForSlots(server, 2);
    proxy.cut();
    const responses = await Promise.all([1, 2, 3].map(async () => await received(post(server, form(OVERLAY)))));
    expect(responses).toEqual(Array.from({ length: 3 }, () => ({ status: 200, isComplete: true })));
    await new Promise((resolve) => setTimeout(resolve, LONG_MS));
    expect(await received(post(server, form(OVERLAY)))).toEqual({ status: 200, isComplete: true });
    expect((await only.health()).tickets.used).toBe(0);
    proxy.heal();
    await waitForSlots(server, 2);
    expect(await received(post(server, form(OVERLAY)))).toEqual({ status: 200, isComplete: true });
    await until(() => only.health().then(({ tickets }) => tickets.used > 0));
    expect(await charged()).toBe(5);
  });
});
