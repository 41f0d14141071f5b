// One look into the store for all of a crowd. Keys that come hundreds of times a second, mostly to be refused, are looked up
// once in a moment; for everybody else the store is asked every time, so that a change is seen at once.

import type { Keys } from '../../store/store.ts';

type Find = Keys['find'];

const MOMENT_MS = 50;
/** From the so many-th time within a second on, it is a crowd. */
const CROWD = 20;
const SECOND_MS = 1_000;
const MOST_KEYS = 1_000;

interface Recent {
  /** When the second began, and how often the key has come in it. */
  readonly since: number;
  count: number;
  lookedAt: number;
  holder: ReturnType<Find>;
}

export class RecentKeys {
  readonly #find: Find;
  readonly #clock: () => number;
  readonly #recent = new Map<string, Recent>();

  constructor(find: Find, clock: () => number = () => performance.now()) {
    this.#find = find;
    this.#clock = clock;
  }

  async find(hash: Buffer): ReturnType<Find> {
    const now = this.#clock();
    const name = hash.toString('latin1');
    const recent = this.#recent.get(name);
    if (recent === undefined || now - recent.since >= SECOND_MS) return await this.#begin(name, hash, now);
    recent.count += 1;
    if (recent.count <= CROWD || now - recent.lookedAt >= MOMENT_MS) {
      recent.lookedAt = now;
      recent.holder = this.#find(hash);
    }
    return await recent.holder;
  }

  async #begin(name: string, hash: Buffer, now: number): ReturnType<Find> {
    // Keys of strangers must not pile up.
    if (this.#recent.size >= MOST_KEYS) this.#recent.clear();
    const holder = this.#find(hash);
    this.#recent.set(name, { since: now, count: 1, lookedAt: now, holder });
    return await holder;
  }
}
