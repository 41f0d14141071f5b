// The times of captions: one row per caption, whose ends can be dragged, or one row with the pages of subtitles. For the
// keyboard and screen readers, each end is a slider. Above them are ticks and small images of the video.

import { find } from '../elements.ts';
import { change, type Editor, newGesture, type EditStep } from './editor.ts';
import { withBar } from './edits.ts';
import { seek } from './player.ts';
import { captionsOf, draftOf, type FilledBar, filledBars, secondsOf, type State } from './state.ts';
import { drawThumbnails } from './thumbnails.ts';
import { type Side, ticksOf, withEnd } from './times.ts';

interface Row {
  readonly element: HTMLElement;
  readonly label: HTMLElement;
  readonly span: HTMLElement;
  readonly ends: Readonly<Record<Side, HTMLElement>>;
}

const STEP_SECONDS = 0.1;
const KEYS: Readonly<Record<string, number>> = {
  ArrowLeft: -STEP_SECONDS,
  ArrowDown: -STEP_SECONDS,
  ArrowRight: STEP_SECONDS,
  ArrowUp: STEP_SECONDS,
  PageDown: -1,
  PageUp: 1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};
/** Pages need room for their text. Longer timelines scroll. */
const PAGE_PIXELS_PER_SECOND = 56;

export class Timeline {
  readonly #store: Editor;
  readonly #root: HTMLElement;
  readonly #rows: HTMLElement;
  readonly #shown: Row[] = [];

  constructor(store: Editor, root: HTMLElement) {
    this.#store = store;
    this.#root = root;
    this.#rows = find(root, '[data-rows]', HTMLElement);
  }

  watch(): void {
    const store = this.#store;
    const thumbnails = find(this.#root, '[data-thumbnails]', HTMLCanvasElement);
    thumbnails.addEventListener('click', ({ clientX }) => seek(store, this.#timeAt(clientX)));
    store.watch(['history', 'media', 'pages'], (state) => this.#draw(state));
    store.watch(['time', 'history', 'media'], ({ time }) => this.#drawTime(time));
    store.watch(['media'], ({ media }) => void drawThumbnails(thumbnails, media));
    new ResizeObserver(() => this.#drawTicks()).observe(this.#rows);
  }

  get #seconds(): number {
    return secondsOf(this.#store.state) ?? 0;
  }

  /** The captions that have rows. Subtitles replace them. */
  get #bars(): FilledBar[] {
    const { state } = this.#store;
    return captionsOf(state) === undefined ? filledBars(state) : [];
  }

  #draw(state: State): void {
    const seconds = secondsOf(state);
    this.#root.hidden = seconds === undefined;
    if (seconds === undefined) return;
    const hasPages = captionsOf(state) !== undefined;
    const tracks = find(this.#root, '[data-tracks]', HTMLElement);
    tracks.style.minWidth = hasPages ? `${Math.round(seconds * PAGE_PIXELS_PER_SECOND)}px` : '';
    const bars = this.#bars;
    while (this.#shown.length > bars.length) this.#shown.pop()?.element.remove();
    while (this.#shown.length < bars.length) this.#addRow(this.#shown.length);
    bars.forEach((bar, index) => this.#place(bar, index));
    this.#rows.querySelector('.cues')?.remove();
    if (hasPages) this.#rows.append(this.#pageRow(state));
    this.#drawTicks();
  }

  #drawTicks(): void {
    const seconds = this.#seconds;
    if (seconds === 0) return;
    const ticks = ticksOf(seconds, this.#rows.clientWidth || 1).map((time) => {
      const tick = document.createElement('span');
      tick.style.left = `${this.#percent(time)}%`;
      tick.textContent = labelOf(time);
      return tick;
    });
    find(this.#root, '[data-ticks]', HTMLElement).replaceChildren(...ticks);
  }

  #drawTime(time: number): void {
    find(this.#root, '[data-playhead]', HTMLElement).style.left = `${this.#percent(time)}%`;
    if (this.#root.scrollWidth <= this.#root.clientWidth) return;
    const at = (this.#percent(time) / 100) * this.#rows.clientWidth;
    const isSeen = at >= this.#root.scrollLeft && at <= this.#root.scrollLeft + this.#root.clientWidth;
    if (!isSeen) this.#root.scrollLeft = at - this.#root.clientWidth / 4;
  }

  #addRow(index: number): void {
    const element = document.createElement('div');
    element.className = `track track-${index % 3}`;
    const span = document.createElement('div');
    span.className = 'span';
    const label = document.createElement('span');
    const ends = { start: this.#createEnd(index, 'start'), end: this.#createEnd(index, 'end') };
    span.append(ends.start, label, ends.end);
    element.append(span);
    this.#rows.append(element);
    this.#shown.push({ element, label, span, ends });
  }

  #createEnd(index: number, side: Side): HTMLElement {
    const element = document.createElement('div');
    element.className = `grip ${side}`;
    element.tabIndex = 0;
    element.setAttribute('role', 'slider');
    element.addEventListener('keydown', (event) => {
      const step = KEYS[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const time = this.#timeOf(index, side) + step * (event.shiftKey ? 10 : 1);
      this.#move(index, side, time, { key: `${side} ${index}` });
    });
    let drag: EditStep | undefined;
    element.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      drag = newGesture();
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener('pointermove', ({ clientX }) => {
      if (drag) this.#move(index, side, this.#timeAt(clientX), drag);
    });
    for (const type of ['pointerup', 'pointercancel'] as const) {
      element.addEventListener(type, () => {
        drag = undefined;
      });
    }
    return element;
  }

  #timeAt(clientX: number): number {
    const { left, width } = this.#rows.getBoundingClientRect();
    return Math.min(Math.max(((clientX - left) / width) * this.#seconds, 0), this.#seconds);
  }

  #timeOf(index: number, side: Side): number {
    const { start = 0, end = this.#seconds } = this.#bars[index] ?? {};
    return side === 'start' ? start : end;
  }

  #move(index: number, side: Side, wanted: number, step: EditStep): void {
    const bar = this.#bars[index];
    if (bar === undefined) return;
    const times = withEnd(bar, side, wanted, this.#seconds);
    change(this.#store, withBar(draftOf(this.#store.state), bar.id, times), step);
  }

  #place({ text }: FilledBar, index: number): void {
    const row = this.#shown[index];
    if (row === undefined) return;
    const { label, span, ends } = row;
    this.#stretch(span, this.#timeOf(index, 'start'), this.#timeOf(index, 'end'));
    label.textContent = text;
    for (const side of ['start', 'end'] as const) {
      const time = this.#timeOf(index, side);
      const name = side === 'start' ? 'Start' : 'End';
      ends[side].setAttribute('aria-label', `${name} of caption bar ${index + 1}`);
      ends[side].setAttribute('aria-valuemin', '0');
      ends[side].setAttribute('aria-valuemax', String(this.#seconds));
      ends[side].setAttribute('aria-valuenow', String(time));
      ends[side].setAttribute('aria-valuetext', `${time.toFixed(1)} seconds`);
    }
  }

  /** A click on a page shows it. */
  #pageRow({ pages }: State): HTMLElement {
    const row = document.createElement('div');
    row.className = 'track cues';
    for (const { text, start, end } of pages?.pages ?? []) {
      const span = document.createElement('button');
      Object.assign(span, { type: 'button', className: 'span', title: text });
      const label = document.createElement('span');
      label.textContent = text;
      span.append(label);
      span.addEventListener('click', () => seek(this.#store, start));
      this.#stretch(span, start, end);
      row.append(span);
    }
    return row;
  }

  #stretch({ style }: HTMLElement, start: number, end: number): void {
    style.left = `${this.#percent(start)}%`;
    style.width = `${Math.max(0.5, this.#percent(end) - this.#percent(start))}%`;
  }

  #percent(seconds: number): number {
    return this.#seconds === 0 ? 0 : Math.min(Math.max((seconds / this.#seconds) * 100, 0), 100);
  }
}

function labelOf(time: number): string {
  if (time < 60) return `${time} s`;
  return `${Math.floor(time / 60)}:${String(Math.round(time % 60)).padStart(2, '0')}`;
}
