// The output for users while a render is sent: a progress bar on a terminal, lines elsewhere, nothing with --json.

import type { WriteStream } from 'node:tty';
import { barLine } from '../progress-bar.ts';

const REDRAW_MS = 100;
/** The step in percent. Lines are for logs, so there are few of them. */
const LINE_STEP = 10;

export class Reporter {
  readonly #stream: Pick<WriteStream, 'isTTY' | 'write'>;
  readonly #isQuiet: boolean;
  #drawnAt = 0;
  #stage = '';
  #step = 0;

  constructor(stream: Pick<WriteStream, 'isTTY' | 'write'>, isQuiet: boolean) {
    this.#stream = stream;
    this.#isQuiet = isQuiet;
  }

  /** `share` is from 0 to 1. */
  progress(stage: string, share: number): void {
    const isNew = stage !== this.#stage;
    const percent = Math.round(share * 100);
    const step = Math.floor(percent / LINE_STEP);
    if (this.#isQuiet) return;
    if (this.#stream.isTTY) this.#draw(stage, share, isNew);
    else if (isNew) this.note(stage);
    else if (step > this.#step) this.note(`${stage}: ${percent} %`);
    this.#stage = stage;
    this.#step = isNew ? step : Math.max(step, this.#step);
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
