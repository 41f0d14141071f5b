// An API server, workers and NATS as real processes that die, freeze and come back during a render.

import { existsSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hasNats } from '../running-nats.ts';
import { form, health, post, problemOf, type RunningServer, until } from '../running-server.ts';
import type { RunningWorker } from '../running-worker.ts';
import { startStallingProxy } from '../stalling-proxy.ts';
import { expectImage, Fleet, isBusy, isQueueEmpty, OVERLAY, ticketsUsed, waitForSlots } from './fleet.ts';

describe.skipIf(!hasNats)('rendering on another machine (needs nats-server)', () => {
  let fleet: Fleet;
  let server: RunningServer;
  let only: RunningWorker;
  beforeAll(async () => {
    fleet = await Fleet.start();
    [server, only] = await Promise.all([fleet.startApiServer(), fleet.startReadyWorker()]);
  });
  afterAll(async () => await fleet.stop());

  it('stops the render on the worker when the client disconnects', async () => {
    await waitForSlots(server, 1);
    const client = new AbortController();
    const { response } = await fleet.startHeldRender(server, [only], client.signal);
    client.abort();
    await expect(response).rejects.toThrow('aborted');
    await until(() => isBusy(only).then((busy) => !busy));
    await until(() => only.workDirectories().length === 0 && server.workDirectories().length === 0);
  });

  it('finishes running renders when NATS is killed and continues when it is back', async () => {
    await waitForSlots(server, 1);
    const { response, resume } = await fleet.startHeldRender(server, [only]);
    await fleet.nats.kill();
    resume();
    await expectImage(response);
    await until(() => health(server).then(({ renderer }) => renderer.remote?.isConnected === false));
    const refused = await post(server, form(OVERLAY));
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'renderer_unavailable' });
    await fleet.nats.restart();
    // Earlier slots count for some seconds, whether or not NATS is back.
    await until(() => health(server).then(({ renderer }) => renderer.remote?.isConnected === true));
    await waitForSlots(server, 1);
    await expectImage(fleet.startRender(server));
  });

  it('serves a waiting client although NATS restarts and loses all tickets', async () => {
    await waitForSlots(server, 1);
    const { response, resume } = await fleet.startHeldRender(server, [only]);
    const waiting = post(server, form(OVERLAY));
    await until(() => health(server).then(({ renderer }) => renderer.images.waiting === 1));
    await fleet.nats.kill();
    await fleet.nats.restart();
    resume();
    expect((await waiting).status).toBe(200);
    await expectImage(response);
  });

  it('serves a waiting client although NATS loses its ticket', async () => {
    await waitForSlots(server, 1);
    const { response, resume } = await fleet.startHeldRender(server, [only]);
    const waiting = post(server, form(OVERLAY));
    await fleet.purgeTickets();
    resume();
    await expectImage(response);
    expect((await waiting).status).toBe(200);
  });
});

describe.skipIf(!hasNats)('rendering on other machines (needs nats-server)', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.start();
  });
  afterAll(async () => await fleet.stop());
  afterEach(async () => await fleet.stopPrograms());

  it('serves the client although the connection to the worker goes silent', async () => {
    const proxy = await startStallingProxy();
    fleet.add(proxy);
    const server = await fleet.startApiServer({
      STORYBAR_INTERNAL_PORT: String(proxy.targetPort),
      STORYBAR_INTERNAL_URL: proxy.url,
    });
    const only = await fleet.startReadyWorker();
    await waitForSlots(server, 1);
    const { response, resume } = await fleet.startHeldRender(server, [only]);
    proxy.stall();
    resume();
    await expectImage(response);
    expect((await only.health()).tickets.again).toBe(1);
    expect(only.workDirectories()).toHaveLength(0);
  });

  it('serves the client although the worker freezes, and rejects its late result', async () => {
    const [server, only] = await Promise.all([fleet.startApiServer(), fleet.startReadyWorker()]);
    await waitForSlots(server, 1);
    for (const isLost of [false, true]) {
      const { response, resume } = await fleet.startHeldRender(server, [only]);
      only.signal('SIGSTOP');
      // The second time, NATS doesn't redeliver the ticket.
      if (isLost) await fleet.purgeTickets();
      const second = await fleet.startReadyWorker();
      await expectImage(response);
      expect(await ticketsUsed(second)).toBe(1);
      resume();
      only.signal('SIGCONT');
      await until(() => isBusy(only).then((busy) => !busy));
      expect(only.workDirectories()).toEqual([]);
      await until(() => isQueueEmpty(server));
      await second.stop();
      await waitForSlots(server, 1);
    }
  });

  it('leaves nothing on the workers when the API server is killed', async () => {
    const [server, only] = await Promise.all([fleet.startApiServer(), fleet.startReadyWorker()]);
    await waitForSlots(server, 1);
    const { resume } = await fleet.startHeldRender(server, [only]);
    server.signal('SIGKILL');
    await until(() => isBusy(only).then((busy) => !busy));
    // The worker has killed its process, unless that was between two steps of the render.
    resume();
    expect(only.workDirectories()).toEqual([]);
    // Its ticket isn't redelivered forever, and the worker serves the next API server.
    const next = await fleet.startApiServer();
    await waitForSlots(next, 1);
    await expectImage(fleet.startRender(next));
    await until(() => isQueueEmpty(next));
  });

  it('renders on local workers while NATS or all remote workers are unavailable', async () => {
    const server = await fleet.startApiServer({ STORYBAR_WORKERS: '1', STORYBAR_VIDEO_WORKERS: '1' });
    const small = form(OVERLAY);
    expect((await post(server, small)).status).toBe(200);
    await fleet.nats.kill();
    expect((await post(server, small)).status).toBe(200);
    await fleet.nats.restart();
    const only = await fleet.startReadyWorker();
    await waitForSlots(server, 2);
    expect((await post(server, small)).status).toBe(200);
    expect(await ticketsUsed(only)).toBe(1);
  });

  it('fails no request while workers are replaced one after the other', async () => {
    const [server, first, second] = await Promise.all([
      fleet.startApiServer(),
      fleet.startReadyWorker(),
      fleet.startReadyWorker(),
    ]);
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
      await fleet.startReadyWorker();
      old.signal('SIGTERM');
      expect(await old.exited).toEqual({ code: 0, signal: null });
    }
    done.abort();
    await Promise.all(clients);
    expect(statuses.length).toBeGreaterThan(10);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('serves the client although the worker is killed', async () => {
    const [server, ...workers] = await Promise.all([
      fleet.startApiServer(),
      fleet.startReadyWorker(),
      fleet.startReadyWorker(),
    ]);
    await waitForSlots(server, 2);
    const { response, worker: victim, resume } = await fleet.startHeldRender(server, workers);
    const other = workers[workers.indexOf(victim) === 0 ? 1 : 0] ?? victim;
    const children = victim.childPids();
    victim.signal('SIGKILL');
    resume();
    await expectImage(response);
    expect(await ticketsUsed(other)).toBeGreaterThan(0);
    await until(() => children.every((pid) => !existsSync(`/proc/${pid}`)));
    await until(() => other.workDirectories().length === 0 && server.workDirectories().length === 0);
  });

  it('finishes a render before a draining worker exits', async () => {
    const [server, only] = await Promise.all([fleet.startApiServer(), fleet.startReadyWorker()]);
    await waitForSlots(server, 1);
    const { response, resume } = await fleet.startHeldRender(server, [only]);
    only.signal('SIGTERM');
    await until(() => only.health().then(({ status }) => status === 'draining'));
    resume();
    await expectImage(response);
    expect(await only.exited).toEqual({ code: 0, signal: null });
  });

  it('shares workers between API servers', async () => {
    const one = await fleet.startApiServer();
    const two = await fleet.startApiServer({ STORYBAR_DATA_DIR: one.dataDirectory });
    await fleet.startReadyWorker();
    await Promise.all([waitForSlots(one, 1), waitForSlots(two, 1)]);
    const responses = await Promise.all(
      [one, two, one, two].map((server) => post({ url: server.url, key: one.key }, form(OVERLAY))),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  // This is the last test, because its ticket stays in the queue.
  it('returns 503 within seconds without workers', async () => {
    const server = await fleet.startApiServer();
    const response = await post(server, form(OVERLAY));
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await problemOf(response)).toMatchObject({ status: 503, code: 'renderer_unavailable' });
  });
});
