// More of what happens to renders on other machines; see scale-out.test.ts.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hasNats } from '../running-nats.ts';
import { form, post, until } from '../running-server.ts';
import { startStallingProxy } from '../stalling-proxy.ts';
import { expectImage, Fleet, isBusy, isQueueEmpty, isRendering, OVERLAY, ticketsUsed, waitForSlots } from './fleet.ts';

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
    const response = fleet.startRender(server);
    await until(() => isRendering(only));
    proxy.stall();
    await expectImage(response);
    expect((await only.health()).tickets.again).toBe(1);
    expect(only.workDirectories()).toHaveLength(0);
  });

  it('serves the client although the worker freezes, and rejects its late result', async () => {
    const [server, only] = await Promise.all([fleet.startApiServer(), fleet.startReadyWorker()]);
    await waitForSlots(server, 1);
    for (const isLost of [false, true]) {
      const response = fleet.startRender(server);
      await until(() => isRendering(only));
      only.signal('SIGSTOP');
      // The second time, NATS doesn't redeliver the ticket.
      if (isLost) await fleet.purgeTickets();
      const second = await fleet.startReadyWorker();
      await expectImage(response);
      expect(await ticketsUsed(second)).toBe(1);
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
    void fleet.startRender(server);
    await until(() => isRendering(only));
    server.signal('SIGKILL');
    await until(() => isBusy(only).then((busy) => !busy));
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
});
