// The image or video with its caption bars. It shows the overlay rendered by the server. While a bar is dragged, the
// canvas moves that bar's rows of the overlay; when the drag ends, the server renders a new overlay.

import { find } from './elements.ts';
import { createHandle, type Handle } from './handle.ts';
import type { Media } from './media.ts';
import type { PreviewResult, BarRows } from './preview.ts';

export interface StageOptions {
  readonly root: HTMLElement;
  /** Called while a bar moves; `done` is true at the end of the move. */
  readonly onMove: (index: number, position: number, done: boolean) => void;
}

interface ShownOverlay {
  readonly bitmap: ImageBitmap;
  readonly rows: readonly BarRows[];
  readonly height: number;
}

export class Stage {
  readonly #onMove: StageOptions['onMove'];
  readonly #media: HTMLElement;
  readonly #overlay: HTMLImageElement;
  readonly #moving: HTMLCanvasElement;
  readonly #handleArea: HTMLElement;
  #handles: Handle[] = [];
  #shown: ShownOverlay | undefined;
  #captions: readonly string[] = [];
  /** Current top of each bar, which differs from the overlay while a bar moves. */
  #tops: number[] = [];

  constructor({ root, onMove }: StageOptions) {
    this.#onMove = onMove;
    this.#media = find(root, '[data-media]', HTMLElement);
    this.#overlay = find(root, '[data-overlay]', HTMLImageElement);
    this.#moving = find(root, '[data-moving]', HTMLCanvasElement);
    this.#handleArea = find(root, '[data-handles]', HTMLElement);
  }

  get isMoving(): boolean {
    return this.#handles.some(({ isDragging }) => isDragging());
  }

  showMedia({ element }: Media): void {
    this.#media.replaceChildren(element);
    this.clear();
  }

  clear(): void {
    this.#overlay.hidden = true;
    this.#moving.hidden = true;
    this.#shown = undefined;
    this.#setHandles([]);
  }

  async showOverlay({ png, rows }: PreviewResult, captions: readonly string[], height: number): Promise<void> {
    const bitmap = await createImageBitmap(png);
    const previous = this.#overlay.src;
    this.#overlay.src = URL.createObjectURL(png);
    await this.#overlay.decode();
    if (previous !== '') URL.revokeObjectURL(previous);
    // The visitor started another drag in the meantime. The end of that drag requests a new overlay.
    if (this.isMoving) {
      bitmap.close();
      return;
    }
    this.#shown?.bitmap.close();
    this.#shown = { bitmap, rows, height };
    this.#tops = rows.map(({ top }) => top);
    this.#overlay.hidden = false;
    this.#moving.hidden = true;
    this.#setHandles(captions);
  }

  #setHandles(captions: readonly string[]): void {
    this.#captions = captions;
    while (this.#handles.length > captions.length) this.#handles.pop()?.element.remove();
    while (this.#handles.length < captions.length) this.#addHandle(this.#handles.length);
    this.#handles.forEach((handle, index) => this.#placeHandle(handle, index));
  }

  #addHandle(index: number): void {
    const handle = createHandle({
      stageHeight: () => this.#handleArea.parentElement?.clientHeight ?? 1,
      center: () => this.#centerOf(index),
      move: (position, done) => this.#moveBar(index, position, done),
    });
    this.#handles.push(handle);
    this.#handleArea.append(handle.element);
  }

  #placeHandle({ element }: Handle, index: number): void {
    const { height = 1, rows = [] } = this.#shown ?? {};
    element.style.top = `${((this.#tops[index] ?? 0) / height) * 100}%`;
    element.style.height = `${((rows[index]?.height ?? 0) / height) * 100}%`;
    const center = this.#centerOf(index);
    element.setAttribute('aria-valuenow', String(Math.round(center)));
    element.setAttribute('aria-valuetext', `${Math.round(center)} percent from the top`);
    element.setAttribute('aria-label', `Caption bar ${index + 1}: ${this.#captions[index]}`);
  }

  #centerOf(index: number): number {
    const { height = 1, rows = [] } = this.#shown ?? {};
    return (((this.#tops[index] ?? 0) + (rows[index]?.height ?? 0) / 2) / height) * 100;
  }

  #moveBar(index: number, position: number, done: boolean): void {
    if (this.#shown === undefined) return;
    const { rows, height } = this.#shown;
    const barHeight = rows[index]?.height ?? 0;
    // The same rule as the service: center the bar at that percentage, then keep it inside.
    const centered = Math.round((position / 100) * height - barHeight / 2);
    this.#tops[index] = Math.min(Math.max(centered, 0), height - barHeight);
    this.#drawMoving(this.#shown);
    const handle = this.#handles[index];
    if (handle) this.#placeHandle(handle, index);
    this.#onMove(index, position, done);
  }

  #drawMoving({ bitmap, rows, height }: ShownOverlay): void {
    const canvas = this.#moving;
    const { clientWidth = 1, clientHeight = 1 } = this.#handleArea.parentElement ?? {};
    canvas.width = Math.round(clientWidth * devicePixelRatio);
    canvas.height = Math.round(clientHeight * devicePixelRatio);
    const context = canvas.getContext('2d');
    if (context === null) return;
    const scale = canvas.height / height;
    rows.forEach(({ top, height: barHeight }, index) => {
      const target = (this.#tops[index] ?? top) * scale;
      context.drawImage(bitmap, 0, top, bitmap.width, barHeight, 0, target, canvas.width, barHeight * scale);
    });
    canvas.hidden = false;
    this.#overlay.hidden = true;
  }
}
