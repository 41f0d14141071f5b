// The times of each caption of a video: one row per caption, whose ends can be dragged. For the keyboard and screen
// readers, each end is a slider.

import { find } from '../elements.ts';

export interface TimelineBar {
  readonly id: string;
  readonly text: string;
  readonly start?: number;
  readonly end?: number;
}

/** A page of subtitles or of a transcript. */
interface TimelineCue {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface TimelineOptions {
  readonly root: HTMLElement;
  /** `done` is true at the end of a drag. An end at the edge of the video is undefined. */
  readonly onChange: (id: string, times: { readonly start?: number; readonly end?: number }, done: boolean) => void;
}

type Side = 'start' | 'end';

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
/** A bar that is shown for a shorter time would be hard to see and hard to grab. */
const MIN_SECONDS = 0.1;

export class Timeline {
  readonly #options: TimelineOptions;
  readonly #rows: HTMLElement;
  readonly #head: HTMLElement;
  #seconds = 0;
  #bars: readonly TimelineBar[] = [];
  #shown: Row[] = [];

  constructor(options: TimelineOptions) {
    this.#options = options;
    this.#rows = find(options.root, '[data-rows]', HTMLElement);
    this.#head = find(options.root, '[data-playhead]', HTMLElement);
  }

  /** Without a length, there is no video and no timeline. Subtitles are shown but have no ends to drag. */
  show(seconds: number | undefined, bars: readonly TimelineBar[], cues: readonly TimelineCue[] | undefined): void {
    this.#options.root.hidden = seconds === undefined;
    this.#seconds = seconds ?? 0;
    this.#bars = cues === undefined ? bars : [];
    while (this.#shown.length > this.#bars.length) this.#shown.pop()?.element.remove();
    while (this.#shown.length < this.#bars.length) this.#addRow(this.#shown.length);
    this.#shown.forEach((row, index) => this.#place(row, index));
    this.#rows.querySelector('.cues')?.remove();
    if (cues) this.#rows.append(this.#cueRow(cues));
  }

  setTime(seconds: number): void {
    this.#head.style.left = `${this.#percent(seconds)}%`;
  }

  #addRow(index: number): void {
    const element = document.createElement('div');
    element.className = 'track';
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
      this.#move(index, side, this.#timeOf(index, side) + step * (event.shiftKey ? 10 : 1), true);
    });
    let isDragging = false;
    let time = 0;
    element.addEventListener('pointerdown', (event) => {
      isDragging = event.button === 0;
      time = this.#timeOf(index, side);
      if (isDragging) element.setPointerCapture(event.pointerId);
    });
    const timeAt = ({ clientX }: PointerEvent): number => {
      const { left, width } = this.#rows.getBoundingClientRect();
      return ((clientX - left) / width) * this.#seconds;
    };
    element.addEventListener('pointermove', (event) => {
      if (!isDragging) return;
      time = timeAt(event);
      this.#move(index, side, time, false);
    });
    for (const type of ['pointerup', 'pointercancel'] as const) {
      // A canceled drag ends where it was, because the event has no position.
      element.addEventListener(type, () => {
        if (isDragging) this.#move(index, side, time, true);
        isDragging = false;
      });
    }
    return element;
  }

  #timeOf(index: number, side: Side): number {
    const { start = 0, end = this.#seconds } = this.#bars[index] ?? {};
    return side === 'start' ? start : end;
  }

  #move(index: number, side: Side, wanted: number, done: boolean): void {
    const bar = this.#bars[index];
    if (bar === undefined) return;
    const [min, max] =
      side === 'start'
        ? [0, this.#timeOf(index, 'end') - MIN_SECONDS]
        : [this.#timeOf(index, 'start') + MIN_SECONDS, this.#seconds];
    const time = Math.round(Math.min(Math.max(wanted, min), max) * 100) / 100;
    const { start, end, ...rest } = bar;
    const isAtEdge = side === 'start' ? time <= 0 : time >= this.#seconds;
    const times = { ...(start !== undefined && { start }), ...(end !== undefined && { end }) };
    const { [side]: _moved, ...other } = times;
    const moved = isAtEdge ? other : { ...times, [side]: time };
    this.#bars = this.#bars.with(index, { ...rest, ...moved });
    const row = this.#shown[index];
    if (row) this.#place(row, index);
    this.#options.onChange(bar.id, moved, done);
  }

  #place({ label, span, ends }: Row, index: number): void {
    const [start, end] = [this.#timeOf(index, 'start'), this.#timeOf(index, 'end')];
    span.style.left = `${this.#percent(start)}%`;
    span.style.width = `${Math.max(0, this.#percent(end) - this.#percent(start))}%`;
    label.textContent = this.#bars[index]?.text ?? '';
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

  #cueRow(cues: readonly TimelineCue[]): HTMLElement {
    const row = document.createElement('div');
    row.className = 'track cues';
    for (const { text, start, end } of cues) {
      const span = document.createElement('div');
      span.className = 'span';
      span.title = text;
      const label = document.createElement('span');
      label.textContent = text;
      span.append(label);
      span.style.left = `${this.#percent(start)}%`;
      span.style.width = `${Math.max(0.5, this.#percent(end) - this.#percent(start))}%`;
      row.append(span);
    }
    return row;
  }

  #percent(seconds: number): number {
    return this.#seconds === 0 ? 0 : Math.min(Math.max((seconds / this.#seconds) * 100, 0), 100);
  }
}
