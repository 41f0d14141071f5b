// Time for a simulation: timers fire in order, as soon as everything before them is done, and no time passes meanwhile. The
// timers of Node.js are replaced as long as a simulation runs, so the code under test needs no change.

import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import fileSystem from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Random } from '../store/random.ts';

/** A process of the simulation. Timers belong to the process that set them, and end with it. */
export interface SimulatedProcess {
  isDead: boolean;
  /** How far its clock is ahead, in milliseconds. */
  clockError: number;
  /** Nothing happens in it before. */
  pausedUntil: number;
}

interface Timer {
  at: number;
  readonly order: number;
  readonly run: () => void;
  readonly everyMs: number | undefined;
  readonly owner: SimulatedProcess | undefined;
  isCleared: boolean;
}

const real = { setImmediate, Date, now: performance.now.bind(performance) };
const current = new AsyncLocalStorage<SimulatedProcess>();

export function inProcess<Result>(owner: SimulatedProcess, work: () => Result): Result {
  return current.run(owner, work);
}

/** What happens here goes on when the current process ends. */
export function outsideProcesses<Result>(work: () => Result): Result {
  return current.exit(work);
}

export class SimulatedTime {
  now: number;
  readonly #random: Random;
  #timers: Timer[] = [];
  #order = 0;

  constructor(start: Date, random: Random) {
    this.now = start.getTime();
    this.#random = random;
  }

  /** Replaces the timers, the clock and the random numbers of Node.js. Returns the function that puts them back. */
  install(): () => void {
    const before = {
      timers: { ...timers },
      stat: fileSystem.stat,
      crypto: { randomUUID: crypto.randomUUID, randomBytes: crypto.randomBytes },
      globals: { ...globalTimers() },
    };
    const clear = (timer: unknown): void => {
      if (timer !== undefined && timer !== null) (timer as Timer).isCleared = true;
    };
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms = 0) => this.#add(run, ms),
      setInterval: (run: () => void, ms = 0) => this.#add(run, ms, ms),
      setImmediate: (run: () => void) => this.#add(run, 0),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
      Date: this.#dateClass(),
    });
    performance.now = () => this.now;
    Object.assign(timers, {
      setTimeout: async (ms: number, value: unknown) => await this.wait(ms, value),
      setImmediate: async (value: unknown) => await this.wait(0, value),
    });
    Object.assign(crypto, {
      randomUUID: () => this.#uuid(),
      randomBytes: (size: number) => Buffer.from(Array.from({ length: size }, () => this.#random.whole(256))),
    });
    // No file exists. Every finished render has the same size.
    Object.assign(fileSystem, { stat: async () => ({ size: 700 }) });
    syncBuiltinESMExports();
    return () => {
      this.#timers = [];
      Object.assign(globalThis, before.globals, { Date: real.Date });
      performance.now = real.now;
      Object.assign(timers, before.timers);
      Object.assign(crypto, before.crypto);
      Object.assign(fileSystem, { stat: before.stat });
      syncBuiltinESMExports();
    };
  }

  /** What the clock of the current process shows. */
  clock(): Date {
    return new real.Date(this.now + (current.getStore()?.clockError ?? 0));
  }

  async wait<Value>(ms: number, value?: Value): Promise<Value | undefined> {
    return await new Promise((resolve) => this.#add(() => resolve(value), ms));
  }

  /** Runs everything that happens in the next `ms`. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    await settled();
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.now = Math.max(this.now, next.at);
      const { owner, run } = next;
      if (owner === undefined) run();
      else inProcess(owner, run);
      await settled();
    }
    this.now = end;
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined;
    let nextAt = end;
    for (const timer of this.#timers) {
      if (timer.isCleared || timer.owner?.isDead === true) continue;
      const at = Math.max(timer.at, timer.owner?.pausedUntil ?? 0);
      if (at > nextAt || (at === nextAt && next !== undefined && next.order < timer.order)) continue;
      next = timer;
      nextAt = at;
    }
    if (next === undefined) return undefined;
    if (next.everyMs === undefined) next.isCleared = true;
    const fired = { ...next, at: nextAt };
    if (next.everyMs !== undefined) next.at = Math.max(this.now, nextAt) + next.everyMs;
    this.#timers = this.#timers.filter((timer) => !timer.isCleared && timer.owner?.isDead !== true);
    return fired;
  }

  #add(run: () => void, ms: number, everyMs?: number): Timer {
    this.#order += 1;
    const owner = current.getStore();
    const timer = { at: this.now + Math.max(0, ms), order: this.#order, run, everyMs, owner, isCleared: false };
    this.#timers.push(timer);
    return Object.assign(timer, { unref: () => timer, ref: () => timer });
  }

  #dateClass(): DateConstructor {
    const clock = (): number => this.clock().getTime();
    return new Proxy(real.Date, {
      construct: (target, values: number[], type) =>
        Reflect.construct(target, values.length === 0 ? [clock()] : values, type),
      get: (target, name) => (name === 'now' ? clock : Reflect.get(target, name)),
    });
  }

  #uuid(): string {
    const digits = Array.from({ length: 32 }, () => this.#random.whole(16).toString(16)).join('');
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5');
  }
}

function globalTimers() {
  return { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
}

/** Resolves when no promise has anything left to do. Nothing in a simulation waits for anything but promises and its timers. */
async function settled(): Promise<void> {
  await new Promise<void>((resolve) => {
    real.setImmediate(resolve);
  });
}
