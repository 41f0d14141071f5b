// Requests the overlay for the current captions. Changes are debounced, and a new request cancels the previous one.

import { MIN_SIDE } from '../../engine/caption/overlay.ts';
import type { Size } from '../../engine/layout/geometry.ts';
import { errorMessage } from './problem.ts';
import type { SnippetOverlay } from './snippets.ts';

export interface PreviewRequest {
  readonly width: number;
  readonly height: number;
  readonly overlays: readonly SnippetOverlay[];
  /** Other form fields: the style and the safe area. */
  readonly look?: Readonly<Record<string, string>>;
  /** Set for captions of a video that have times. */
  readonly moment?: PreviewMoment;
  /** Proves that the request comes from the page of a signed-in visitor. */
  readonly token?: string | undefined;
}

export interface PreviewMoment {
  /** The length of the video in seconds. */
  readonly duration: number;
  /** The frame to preview. */
  readonly milliseconds: number;
  /** Subtitles instead of the overlays. */
  readonly captions: string | undefined;
  /** The captions that this frame shows. All frames with the same captions have the same preview. */
  readonly shown: string;
}

export interface BarRows {
  readonly top: number;
  readonly height: number;
}

export interface PreviewResult {
  readonly png: Blob;
  /** The rows of each bar, in pixels of the overlay. */
  readonly rows: readonly BarRows[];
  readonly missingGlyphs: number;
  readonly isMarked: boolean;
}

export interface PreviewListener {
  readonly onResult: (result: PreviewResult, request: PreviewRequest) => void | Promise<void>;
  readonly onError: (message: string, willRetry: boolean) => void;
}

/** Returns the size of a preview for media of this size, whose longer side is at most `maxSide`. */
export function previewSize({ width, height }: Size, maxSide: number): Size {
  const scale = Math.min(1, maxSide / Math.max(width, height));
  const scaled = (side: number): number => Math.max(MIN_SIDE, Math.floor(side * scale));
  return { width: scaled(width), height: scaled(height) };
}

const DEBOUNCE_MS = 140;
const MAX_RETRY_SECONDS = 5;
const MAX_MOMENTS = 400;

export class Preview {
  readonly #listener: PreviewListener;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: AbortController | undefined;
  /** The request that didn't reach the server, which is repeated when the browser is online again. */
  #unsent: PreviewRequest | undefined;
  /** The latest previews of videos, which play in a loop. */
  readonly #moments = new Map<string, PreviewResult>();

  constructor(listener: PreviewListener) {
    this.#listener = listener;
    window.addEventListener('online', () => {
      if (this.#unsent) this.request(this.#unsent);
    });
  }

  /** Drops the pending request; its result would be out of date. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#unsent = undefined;
    this.#running?.abort();
  }

  request(request: PreviewRequest, delayMs = DEBOUNCE_MS): void {
    this.cancel();
    const known = this.#moments.get(momentKey(request) ?? '');
    if (known) void this.#listener.onResult(known, request);
    else this.#timer = setTimeout(() => void this.#fetch(request), delayMs);
  }

  #remember(request: PreviewRequest, result: PreviewResult): void {
    const key = momentKey(request);
    if (key === undefined) return;
    this.#moments.set(key, result);
    const [oldest] = this.#moments.keys();
    if (oldest !== undefined && this.#moments.size > MAX_MOMENTS) this.#moments.delete(oldest);
  }

  async #fetch(request: PreviewRequest): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    try {
      const at = request.moment ? `?at=${request.moment.milliseconds}` : '';
      const response = await fetch(`/playground/overlay${at}`, {
        method: 'POST',
        body: formOf(request),
        headers: request.token === undefined ? {} : { 'x-form-token': request.token },
        signal: running.signal,
      });
      const seconds = Number(response.headers.get('retry-after') ?? 1);
      // A longer wait means the daily limit, which the visitor should know about.
      if (response.status === 429 && seconds <= MAX_RETRY_SECONDS) {
        this.#listener.onError('Catching up…', true);
        this.request(request, seconds * 1_000);
        return;
      }
      if (!response.ok) {
        this.#listener.onError(await errorMessage(response), false);
        return;
      }
      const result = { png: await response.blob(), ...parseHeaders(response.headers) };
      this.#remember(request, result);
      if (!running.signal.aborted) await this.#listener.onResult(result, request);
    } catch {
      if (running.signal.aborted) return;
      this.#unsent = request;
      this.#listener.onError("Couldn't load the preview. Check your connection.", false);
    }
  }
}

/** Returns undefined for images, whose previews aren't kept. */
function momentKey({ moment, ...rest }: PreviewRequest): string | undefined {
  return moment && JSON.stringify([rest, { ...moment, milliseconds: 0 }]);
}

function formOf({ width, height, overlays, look = {}, moment }: PreviewRequest): FormData {
  const form = new FormData();
  form.append('width', String(width));
  form.append('height', String(height));
  if (moment) form.append('duration', String(moment.duration));
  if (moment?.captions === undefined) form.append('overlays', JSON.stringify(overlays));
  else form.append('captions', moment.captions);
  for (const [name, value] of Object.entries(look)) form.append(name, value);
  return form;
}

function parseHeaders(headers: Headers): Omit<PreviewResult, 'png'> {
  const rows = (headers.get('x-bar-rows') ?? '').split(', ').map((entry) => {
    const [top = 0, height = 0] = entry.split('+').map(Number);
    return { top, height };
  });
  return { rows, missingGlyphs: Number(headers.get('x-missing-glyphs') ?? 0), isMarked: !headers.has('x-unmarked') };
}
