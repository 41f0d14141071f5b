import { describe, expect, it } from 'vitest';
import type { PoolStatus } from '../../dispatch/renderer.ts';
import { BackgroundSlots } from './background-slots.ts';

const IDLE: PoolStatus = { workers: 0, ready: 0, busy: 0, waiting: 0, backlogMs: 0, restarts: 0 };
const { signal } = new AbortController();

/** Time that passes only when something waits for it. */
class Simulation {
  time = 0;
  pool: PoolStatus = IDLE;
  /** Asynchronous renders that run. */
  running = 0;
  #sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  readonly slots = new BackgroundSlots(() => ({ images: this.#counted, videos: this.#counted }), {
    now: () => this.time,
    wait: async (milliseconds) => await this.sleep(milliseconds),
  });

  /** Workers also count the asynchronous renders as busy. */
  get #counted(): PoolStatus {
    return { ...this.pool, busy: Math.min(this.pool.ready, this.pool.busy + this.running) };
  }

  async sleep(milliseconds: number): Promise<void> {
    await new Promise<void>((wake) => {
      this.#sleepers.push({ at: this.time + milliseconds, wake });
    });
  }

  async render(kind: 'image' | 'video', milliseconds: number): Promise<void> {
    await this.slots.run(kind, signal, async () => {
      this.running += 1;
      await this.sleep(milliseconds);
      this.running -= 1;
    });
  }

  async advance(milliseconds: number): Promise<void> {
    for (const end = this.time + milliseconds; this.time < end; ) {
      await settled();
      const next = Math.min(end, ...this.#sleepers.map(({ at }) => at));
      this.time = next;
      const due = this.#sleepers.filter(({ at }) => at <= next);
      this.#sleepers = this.#sleepers.filter(({ at }) => at > next);
      for (const { wake } of due) wake();
    }
    await settled();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('asynchronous renders', () => {
  it('use all workers for images, and all but one for videos, while no other request needs them', async () => {
    for (const [kind, expected] of [
      ['image', 4],
      ['video', 3],
    ] as const) {
      const world = new Simulation();
      world.pool = { ...IDLE, ready: 4 };
      for (let count = 0; count < 10; count += 1) void world.render(kind, 1_000);
      await world.advance(100);
      expect(world.running).toBe(expected);
    }
  });

  it('use the only video worker while it is idle', async () => {
    const world = new Simulation();
    world.pool = { ...IDLE, ready: 1 };
    let ended = 0;
    for (let count = 0; count < 5; count += 1) void world.render('video', 1_000).then(() => (ended += 1));
    await world.advance(6_000);
    expect(ended).toBe(5);
  });

  it.each([1, 2, 11, 40])(
    'get a tenth of the time of %i workers while other requests wait for all of them',
    async (ready) => {
      const world = new Simulation();
      world.pool = { ...IDLE, ready, busy: ready, waiting: 20 };
      const [renderMs, totalMs] = [1_000, 100_000];
      let ended = 0;
      let most = 0;
      const client = async (): Promise<never> => {
        for (;;) {
          await world.render('image', renderMs);
          ended += 1;
        }
      };
      for (let clients = 0; clients < 6; clients += 1) void client();
      for (let time = 0; time < totalMs; time += 1_000) {
        await world.advance(1_000);
        most = Math.max(most, world.running);
      }
      const share = (ended * renderMs) / (totalMs * ready);
      expect(share).toBeGreaterThan(0.08);
      expect(share).toBeLessThanOrEqual(0.11);
      expect(most).toBeLessThanOrEqual(Math.ceil(ready / 10));
    },
  );

  it('take all workers again when the other requests have ended', async () => {
    const world = new Simulation();
    world.pool = { ...IDLE, ready: 2, busy: 2, waiting: 20 };
    for (let count = 0; count < 10; count += 1) void world.render('image', 60_000);
    await world.advance(61_000);
    expect(world.running).toBe(0);
    world.pool = { ...IDLE, ready: 2 };
    await world.advance(100);
    expect(world.running).toBe(2);
  });

  it('stop waiting for a worker when they are canceled', async () => {
    const slots = new BackgroundSlots(() => ({ images: { ...IDLE, ready: 0 }, videos: IDLE }));
    const cancel = new AbortController();
    const first = slots.run('image', cancel.signal, async () => await new Promise(() => undefined));
    const second = slots.run('image', cancel.signal, async () => 'ran');
    first.catch(() => undefined);
    cancel.abort(new Error('canceled'));
    await expect(second).rejects.toThrow('canceled');
  });
});
