// What a simulated server has around it, besides the database: workers, storage, and receivers of webhooks and files.

import { Readable } from 'node:stream';
import { AppError } from '../../src/shared/errors.ts';
import type { Lease, LeaseRequest, Renderer, RenderJob } from '../../src/service/dispatch/renderer.ts';
import type { PutOutcome } from '../../src/service/fetch/put-sender.ts';
import { NOTHING_DRAWN } from '../../src/engine/render/recipe.ts';
import type { RenderFacts } from '../../src/engine/render/render.ts';
import type { ObjectEntry, ObjectStorage } from '../../src/service/storage/object-storage.ts';
import type { ClaimedDelivery, WebhookAttempt } from '../../src/service/store/webhooks/webhook.ts';
import type { Random } from '../store/random.ts';
import type { SimulatedTime } from './simulated-time.ts';

/** The chances of the simulation. All of them are 0 once it heals. */
export interface Chances {
  isHealed: boolean;
}

export class SimulatedRenderer implements Renderer {
  readonly #time: SimulatedTime;
  readonly #random: Random;
  readonly #chances: Chances;

  constructor(time: SimulatedTime, random: Random, chances: Chances) {
    this.#time = time;
    this.#random = random;
    this.#chances = chances;
  }

  open({ signal, onAssigned }: LeaseRequest): Lease {
    return {
      choose: () => undefined,
      enter: () => undefined,
      assertFeasible: () => undefined,
      leave: () => undefined,
      close: () => undefined,
      probe: async () => {
        throw new Error('renders of the simulation have no asset');
      },
      render: async (job, onProgress) => {
        await this.#time.wait(this.#random.whole(200));
        signal.throwIfAborted();
        onAssigned?.('worker', 'render');
        // Some renders take longer than a lease that isn't renewed.
        const isLong = !this.#chances.isHealed && this.#random.whole(8) === 0;
        await this.#time.wait(isLong ? 10_000 + this.#random.whole(60_000) : this.#random.whole(3_000));
        signal.throwIfAborted();
        onProgress?.(0.9);
        if (!this.#chances.isHealed && this.#random.whole(12) === 0) {
          throw new AppError('renderer_unavailable', 'The worker was lost.');
        }
        if (isDamaged(job)) throw new AppError('asset_undecodable', "The asset can't be decoded.");
        return factsOf(job);
      },
    };
  }

  refusal(): undefined {
    return undefined;
  }

  status(): ReturnType<Renderer['status']> {
    const pool = { workers: 4, ready: 4, busy: 0, waiting: 0, backlogMs: 0, restarts: 0 };
    return { images: pool, videos: pool, codecs: undefined };
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }
}

function isDamaged({ recipe }: RenderJob): boolean {
  return 'overlays' in recipe && recipe.overlays.some(({ text }) => text === 'damaged');
}

function factsOf({ recipe }: RenderJob): RenderFacts {
  const size = recipe.kind !== 'image' && 'canvas' in recipe ? recipe.canvas : {};
  return { ...NOTHING_DRAWN, ...size };
}

/** Objects by name. It survives every crash. */
export class SimulatedStorage {
  readonly objects = new Map<string, number>();

  /** As one server sees it. `use` is called before each operation, and fails or never returns. */
  of(use: () => Promise<void>, now: () => number): ObjectStorage {
    const { objects } = this;
    return {
      put: async (name) => {
        await use();
        objects.set(name, now());
      },
      copyTo: async (name) => {
        await use();
        return objects.has(name);
      },
      size: async (name) => (objects.has(name) ? 700 : undefined),
      get: async (name) => (objects.has(name) ? { bytes: 700, body: Readable.from([]) } : undefined),
      delete: async (name) => {
        await use();
        objects.delete(name);
      },
      list: async function* (folder): AsyncIterable<ObjectEntry> {
        for (const [name, at] of objects) if (name.startsWith(folder)) yield { name, modifiedAt: new Date(at) };
      },
      close: () => undefined,
    };
  }
}

/** The receivers of webhooks and files. The network loses requests and responses. */
export class SimulatedReceivers {
  /** How often each message arrived, by its id. */
  readonly received = new Map<string, number>();
  readonly #time: SimulatedTime;
  readonly #random: Random;
  readonly #chances: Chances;

  constructor(time: SimulatedTime, random: Random, chances: Chances) {
    this.#time = time;
    this.#random = random;
    this.#chances = chances;
  }

  async send({ delivery }: ClaimedDelivery): Promise<WebhookAttempt> {
    const at = this.#time.clock().toISOString();
    const attempt = { at, durationMs: 5, requestHeaders: {}, contentType: undefined, response: '' };
    const fate = this.#chances.isHealed ? 9 : this.#random.whole(10);
    await this.#time.wait(this.#random.whole(400));
    if (fate === 0) return { ...attempt, status: undefined, error: 'The request was lost.' };
    if (fate === 1) return { ...attempt, status: 503, error: 'The receiver responded with 503.' };
    this.received.set(delivery.messageId, (this.received.get(delivery.messageId) ?? 0) + 1);
    if (fate === 2) return { ...attempt, status: undefined, error: 'The response was lost.' };
    return { ...attempt, status: 200, error: undefined };
  }
  /** A file arrives at a `put_url`, or doesn't. */
  async put(): Promise<PutOutcome> {
    const fate = this.#chances.isHealed ? 9 : this.#random.whole(10);
    await this.#time.wait(this.#random.whole(400));
    if (fate === 0) return { status: null, error: 'The response was lost.', mayRepeat: true };
    if (fate === 1) return { status: 503, error: 'The receiver responded with 503.', mayRepeat: true };
    return { status: 200, mayRepeat: false };
  }
}
