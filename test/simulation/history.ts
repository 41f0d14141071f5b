// What happened in a simulation, as lines that a person can read.

import { createHash } from 'node:crypto';

interface Line {
  readonly at: number;
  readonly who: string;
  readonly what: string;
  /** Ids of renders, accounts and messages. Lines without any concern all of them. */
  readonly ids: readonly string[];
}

export class History {
  readonly #lines: Line[] = [];
  readonly #start: number;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
    this.#start = now();
  }

  add(who: string, what: string, ids: readonly string[] = []): void {
    this.#lines.push({ at: this.#now() - this.#start, who, what, ids });
  }

  /** The same for the same history. */
  get digest(): string {
    return createHash('sha256').update(JSON.stringify(this.#lines)).digest('hex');
  }

  /** The lines about these ids, with crashes and clocks that jump, which concern everything. */
  about(ids: readonly string[]): string {
    return this.#lines
      .filter((line) => line.ids.length === 0 || line.ids.some((id) => ids.includes(id)))
      .map(({ at, who, what }) => `${(at / 1_000).toFixed(3).padStart(10)} s  ${who.padEnd(10)}  ${what}`)
      .join('\n');
  }
}
