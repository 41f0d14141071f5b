// Asks for the overlay of what is on the stage: a little after the last change, the latest wish only.

import { explain } from './problem.ts';
import type { CallOverlay } from './snippets.ts';

export interface PreviewWish {
  readonly width: number;
  readonly height: number;
  readonly overlays: readonly CallOverlay[];
}

export interface BarRows {
  readonly top: number;
  readonly height: number;
}

export interface PreviewResult {
  readonly png: Blob;
  /** Of each bar, in pixels of the overlay. */
  readonly rows: readonly BarRows[];
  readonly missingGlyphs: number;
}

export interface PreviewListener {
  readonly shown: (result: PreviewResult, wish: PreviewWish) => void | Promise<void>;
  /** `again`: it will be tried once more without being asked. */
  readonly failed: (reason: string, again: boolean) => void;
}

const PAUSE_MS = 140;

export class Preview {
  readonly #listener: PreviewListener;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: AbortController | undefined;

  constructor(listener: PreviewListener) {
    this.#listener = listener;
  }

  /** Forgets what is under way: its answer would be about something else. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#running?.abort();
  }

  ask(wish: PreviewWish, pauseMs = PAUSE_MS): void {
    this.cancel();
    this.#timer = setTimeout(() => void this.#fetch(wish), pauseMs);
  }

  async #fetch(wish: PreviewWish): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    try {
      const response = await fetch('/playground/overlay', {
        method: 'POST',
        body: formOf(wish),
        signal: running.signal,
      });
      if (response.status === 429) {
        const seconds = Number(response.headers.get('retry-after') ?? 1);
        this.#listener.failed('That was quick. The preview follows in a moment.', true);
        this.ask(wish, seconds * 1_000);
        return;
      }
      if (!response.ok) {
        this.#listener.failed(await explain(response), false);
        return;
      }
      const png = await response.blob();
      if (!running.signal.aborted) await this.#listener.shown({ png, ...factsOf(response.headers) }, wish);
    } catch (error) {
      if (!running.signal.aborted) this.#listener.failed(`The preview did not arrive: ${String(error)}`, false);
    }
  }
}

function formOf({ width, height, overlays }: PreviewWish): FormData {
  const form = new FormData();
  form.append('width', String(width));
  form.append('height', String(height));
  form.append('overlays', JSON.stringify(overlays));
  return form;
}

function factsOf(headers: Headers): Omit<PreviewResult, 'png'> {
  const rows = (headers.get('x-bar-rows') ?? '').split(', ').map((entry) => {
    const [top = 0, height = 0] = entry.split('+').map(Number);
    return { top, height };
  });
  return { rows, missingGlyphs: Number(headers.get('x-missing-glyphs') ?? 0) };
}
