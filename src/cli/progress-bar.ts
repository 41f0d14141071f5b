// A progress bar for renders of videos. Draws nothing unless the output is a terminal.

import type { WriteStream } from 'node:tty';

export interface Progress {
  readonly frames: number;
  readonly totalFrames: number;
}

const WIDTH = 30;
const REDRAW_MS = 100;

export class ProgressBar {
  readonly #terminal: WriteStream;
  readonly #started = performance.now();
  #drawnAt = 0;

  constructor(terminal: WriteStream) {
    this.#terminal = terminal;
  }

  show(progress: Progress): void {
    const now = performance.now();
    if (!this.#terminal.isTTY || now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#terminal.write(`\r\u001b[K${progressLine(progress, (now - this.#started) / 1_000)}`);
  }

  clear(): void {
    if (this.#terminal.isTTY) this.#terminal.write('\r\u001b[K');
  }
}

export function progressLine({ frames, totalFrames }: Progress, seconds: number): string {
  const share = totalFrames > 0 ? Math.min(1, frames / totalFrames) : 0;
  const rate = seconds > 0 ? frames / seconds : 0;
  const left = rate > 0 ? Math.ceil(Math.max(0, totalFrames - frames) / rate) : 0;
  const clock = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
  return `${barLine(share)}  ${Math.round(rate)} fps  ${clock} left`;
}

/** `share` is from 0 to 1. */
export function barLine(share: number): string {
  const filled = Math.round(share * WIDTH);
  return `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${Math.round(share * 100)} %`;
}
