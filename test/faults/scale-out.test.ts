// An API server, workers and NATS as real processes that die, freeze and come back during a render. The file whose name
// has `slow` in it continues.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasNats } from '../running-nats.ts';
import { form, health, post, problemOf, type RunningServer, until } from '../running-server.ts';
import type { RunningWorker } from '../running-worker.ts';
import { expectImage, Fleet, isBusy, isRendering, OVERLAY, waitForSlots } from './fleet.ts';

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
    const response = fleet.startRender(server, client.signal);
    await until(() => isRendering(only));
    // So that it can't complete the render.
    for (const pid of only.renderPids()) process.kill(pid, 'SIGSTOP');
    client.abort();
    await expect(response).rejects.toThrow('aborted');
    await until(() => isBusy(only).then((busy) => !busy));
    await until(() => only.workDirectories().length === 0 && server.workDirectories().length === 0);
  });

  it('finishes running renders when NATS is killed and continues when it is back', async () => {
    await waitForSlots(server, 1);
    const response = fleet.startRender(server);
    await until(() => isRendering(only));
    await fleet.nats.kill();
    await expectImage(response);
    await until(() => health(server).then(({ renderer }) => renderer.remote?.isConnected === false));
    const refused = await post(server, form(OVERLAY));
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'renderer_unavailable' });
    await fleet.nats.restart();
    // Slots from before count for some seconds, whether or not NATS is back.
    await until(() => health(server).then(({ renderer }) => renderer.remote?.isConnected === true));
    await waitForSlots(server, 1);
    await expectImage(fleet.startRender(server));
  });

  it('serves a waiting client although NATS restarts and loses all tickets', async () => {
    await waitForSlots(server, 1);
    const slowResponse = fleet.startRender(server);
    await until(() => isRendering(only));
    const waiting = post(server, form(OVERLAY));
    await until(() => health(server).then(({ renderer }) => renderer.images.waiting === 1));
    await fleet.nats.kill();
    await fleet.nats.restart();
    expect((await waiting).status).toBe(200);
    await expectImage(slowResponse);
  });

  it('serves a waiting client although NATS loses its ticket', async () => {
    await waitForSlots(server, 1);
    const slowResponse = fleet.startRender(server);
    await until(() => isRendering(only));
    const waiting = post(server, form(OVERLAY));
    await fleet.purgeTickets();
    await expectImage(slowResponse);
    expect((await waiting).status).toBe(200);
  });
});
