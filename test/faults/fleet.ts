// API servers without workers, worker nodes and NATS as real processes, and an image that takes seconds to render.

import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect } from 'vitest';
import { hold } from '../held-workers.ts';
import { noisyJpeg } from '../pictures.ts';
import { type RunningNats, startNats } from '../running-nats.ts';
import { form, health, post, type RunningServer, startServer, until } from '../running-server.ts';
import { type RunningWorker, startWorker } from '../running-worker.ts';

const API_SERVER = { STORYBAR_WORKERS: '0', STORYBAR_VIDEO_WORKERS: '0', STORYBAR_INTERNAL_PORT: '0' };
export const OVERLAY = { width: '64', height: '64', text: 'a' };

/** A render whose worker process stands still until `resume` is called. */
export interface HeldRender {
  readonly response: Promise<Response>;
  readonly worker: RunningWorker;
  /** The number of renders before it that ended too early. */
  readonly missed: number;
  readonly resume: () => void;
}

export class Fleet {
  readonly nats: RunningNats;
  readonly #photo: Buffer;
  readonly #running: { stop(): Promise<void> }[] = [];

  private constructor(nats: RunningNats, photo: Buffer) {
    this.nats = nats;
    this.#photo = photo;
  }

  static async start(): Promise<Fleet> {
    const [nats, photo] = await Promise.all([startNats(), noisyJpeg(4_000, 3_000)]);
    return new Fleet(nats, photo);
  }

  /** Stops the program with the others. */
  add<Program extends { stop(): Promise<void> }>(program: Program): Program {
    this.#running.push(program);
    return program;
  }

  /** Stops all programs except NATS. */
  async stopPrograms(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((program) => program.stop()));
  }

  async stop(): Promise<void> {
    await this.stopPrograms();
    await this.nats.stop();
  }

  async startApiServer(environment: Record<string, string> = {}): Promise<RunningServer> {
    return this.add(await startServer({ ...API_SERVER, STORYBAR_NATS_URL: this.nats.url, ...environment }));
  }

  async startReadyWorker(natsUrl = this.nats.url): Promise<RunningWorker> {
    const started = this.add(await startWorker(natsUrl));
    await until(() => started.health().then(({ isConnected, renderer }) => isConnected && renderer.images.ready > 0));
    return started;
  }

  /** Simulates a NATS server that has lost its tickets. */
  async purgeTickets(): Promise<void> {
    const connection = await connect({ servers: this.nats.url.replace('nats://', '') });
    const { streams } = await jetstreamManager(connection);
    await until(async () => (await streams.purge('STORYBAR_TICKETS', { filter: 'storybar.tickets.image' })).purged > 0);
    await connection.close();
  }

  startRender(server: RunningServer, signal?: AbortSignal): Promise<Response> {
    const response = post(server, form({ asset: this.#photo, text: 'A photo' }), signal ? { signal } : {});
    response.catch(() => undefined);
    return response;
  }

  /**
   * Starts a render and stops the process of the worker that has it. On a busy machine, a render may end before anyone has
   * seen it, and then there is another one.
   */
  async startHeldRender(
    server: RunningServer,
    workers: readonly RunningWorker[],
    signal?: AbortSignal,
  ): Promise<HeldRender> {
    for (let missed = 0; ; missed += 1) {
      const response = this.startRender(server, signal);
      let hasEnded = false;
      void response.finally(() => (hasEnded = true)).catch(() => undefined);
      const worker = await until(async () => {
        const rendering = await Promise.all(workers.map(isRendering));
        return workers[rendering.indexOf(true)] ?? hasEnded;
      });
      if (worker === true) continue;
      return { response, worker, missed, resume: hold(worker.renderPids()) };
    }
  }
}

/** Waits until the API server knows this many slots. */
export async function waitForSlots(server: RunningServer, slots: number): Promise<void> {
  await until(() => health(server).then(({ renderer }) => renderer.images.ready === slots));
}

export async function isBusy(worker: RunningWorker): Promise<boolean> {
  return (await worker.health()).busy.image > 0;
}

/** The worker has fetched the asset and its process renders. */
export async function isRendering(worker: RunningWorker): Promise<boolean> {
  const { busy, renderer } = await worker.health();
  return busy.image > 0 && renderer.images.busy > 0;
}

export async function isQueueEmpty(server: RunningServer): Promise<boolean> {
  const { waiting, taken } = (await health(server)).renderer.remote?.queue.images ?? { waiting: -1, taken: -1 };
  return waiting === 0 && taken === 0;
}

/** The number of tickets whose renders the worker has delivered, once there is one. */
export async function ticketsUsed(worker: RunningWorker): Promise<number> {
  return await until(() => worker.health().then(({ tickets }) => tickets.used));
}

export async function expectImage(pending: Promise<Response>): Promise<void> {
  const response = await pending;
  expect(response.status).toBe(200);
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1_000_000);
}
