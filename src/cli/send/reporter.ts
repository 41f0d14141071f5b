// What a user sees while a render is sent: a progress bar on a terminal, one line per stage elsewhere, nothing with --json or --quiet.

import type { WriteStream } from 'node:tty';
import { barLine } from '../progress-bar.ts';

const REDRAW_MS = 100;

export class Reporter {
  readonly #stream: Pick<WriteStream, 'isTTY' | 'write'>;
  readonly #isQuiet: boolean;
  #drawnAt = 0;
  #stage = '';

  constructor(stream: Pick<WriteStream, 'isTTY' | 'write'>, isQuiet: boolean) {
    this.#stream = stream;
    this.#isQuiet = isQuiet;
  }

  /** `share` is from 0 to 1. */
  progress(stage: string, share: number): void {
    const isNew = stage !== this.#stage;
    if (this.#isQuiet) return;
    if (this.#stream.isTTY) this.#draw(stage, share, isNew);
    else if (isNew) this.note(stage);
    this.#stage = stage;
  }

  /** Prints a line that stays. */
  note(text: string): void {
    if (this.#isQuiet) return;
    this.clear();
    this.#stream.write(`${text}\n`);
  }

  clear(): void {
    if (this.#stream.isTTY && !this.#isQuiet) this.#stream.write('\r\u001b[K');
  }

  #draw(stage: string, share: number, isNew: boolean): void {
    const now = performance.now();
    if (!isNew && now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#stream.write(`\r\u001b[K${barLine(share)}  ${stage}`);
  }
}
