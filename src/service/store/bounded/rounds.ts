// Looks at many names, such as accounts or lanes, a bounded number at a time and in a circle: each call continues after the last
// name of the one before.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** How many names a round looks at. */
export const ROUND = 100;

export class Rounds<Row> {
  readonly #nameOf: (row: Row) => string;
  #after = '';

  constructor(nameOf: (row: Row) => string) {
    this.#nameOf = nameOf;
  }

  /**
   * Yields rows until all names were seen. `read` returns up to `ROUND` rows whose names come after the given one, in
   * order.
   */
  async *next(read: (after: string) => Promise<Row[]>): AsyncGenerator<Row[]> {
    const seen = new Set<string>();
    for (; ; await yieldToEventLoop()) {
      const rows = await this.#read(read);
      yield rows;
      if (rows.length < ROUND || rows.every((row) => seen.has(this.#nameOf(row)))) return;
      for (const row of rows) seen.add(this.#nameOf(row));
    }
  }

  async #read(read: (after: string) => Promise<Row[]>): Promise<Row[]> {
    const after = this.#after;
    const rows = await read(after);
    if (after !== '' && rows.length < ROUND) {
      const known = new Set(rows.map(this.#nameOf));
      const fromStart = (await read('')).filter((row) => !known.has(this.#nameOf(row)));
      rows.push(...fromStart.slice(0, ROUND - rows.length));
    }
    const last = rows.at(-1);
    this.#after = rows.length < ROUND || last === undefined ? '' : this.#nameOf(last);
    return rows;
  }
}
