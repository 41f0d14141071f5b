// Looks up API keys in the store. A key that arrives many times a second is looked up at most once in 50 ms. Every
// other lookup goes to the store, so that a suspended or revoked key stops working immediately.

import { BoundedMap } from '../../../shared/bounded-map.ts';
import type { Keys } from '../../store/accounts/keys.ts';

type Find = Keys['find'];

/** How long a lookup is reused for a hot key. */
const REUSE_MS = 50;
/** A key is hot after this many lookups within a second. */
const HOT_LOOKUPS = 20;
const SECOND_MS = 1_000;
const MAX_KEYS = 1_000;

interface RecentKey {
  /** The start of the current second, and the lookups since then. */
  readonly since: number;
  count: number;
  foundAt: number;
  holder: ReturnType<Find>;
}

export class RecentKeys {
  readonly #find: Find;
  readonly #clock: () => number;
  readonly #recent = new BoundedMap<string, RecentKey>(MAX_KEYS);

  constructor(find: Find, clock: () => number = () => performance.now()) {
    this.#find = find;
    this.#clock = clock;
  }

  async find(hash: Buffer): ReturnType<Find> {
    const now = this.#clock();
    const name = hash.toString('latin1');
    const recent = this.#recent.get(name);
    if (recent === undefined || now - recent.since >= SECOND_MS) {
      const holder = this.#find(hash);
      this.#recent.set(name, { since: now, count: 1, foundAt: now, holder });
      return await holder;
    }
    recent.count += 1;
    if (recent.count <= HOT_LOOKUPS || now - recent.foundAt >= REUSE_MS) {
      recent.foundAt = now;
      recent.holder = this.#find(hash);
    }
    return await recent.holder;
  }
}
