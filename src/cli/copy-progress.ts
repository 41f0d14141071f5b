// The progress of `storybar db copy`: a bar on a terminal, and a line every ten seconds elsewhere.

import type { WriteStream } from 'node:tty';
import { barLine } from './progress-bar.ts';

const REDRAW_MS = 100;
const LINE_MS = 10_000;

export class CopyProgress {
  readonly #output: Pick<WriteStream, 'write' | 'isTTY'>;
  readonly #clock: () => number;
  #shownAt: number;

  constructor(output: Pick<WriteStream, 'write' | 'isTTY'>, clock: () => number = () => performance.now()) {
    this.#output = output;
    this.#clock = clock;
    this.#shownAt = clock();
  }

  show({ table, share }: { readonly table: string; readonly share: number }): void {
    const now = this.#clock();
    if (now - this.#shownAt < (this.#output.isTTY ? REDRAW_MS : LINE_MS)) return;
    this.#shownAt = now;
    if (this.#output.isTTY) this.#output.write(`\r\u001b[K${barLine(share)}  ${table}`);
    else this.#output.write(`${Math.floor(share * 100)} % copied and verified (${table})\n`);
  }

  clear(): void {
    if (this.#output.isTTY) this.#output.write('\r\u001b[K');
  }
}
