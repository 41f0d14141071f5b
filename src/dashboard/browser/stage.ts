// The picture with its bars. At rest it shows the server's own overlay; while a bar is moved, its rows of that overlay are
// moved along, and the server's answer takes over when the bar rests again.

import { find } from './elements.ts';
import { createHandle, type Handle } from './handle.ts';
import type { Media } from './media.ts';
import type { PreviewResult, BarRows } from './preview.ts';

export interface StageOptions {
  readonly root: HTMLElement;
  /** A bar was moved; `done` when it rests. */
  readonly onMove: (index: number, position: number, done: boolean) => void;
}

interface Shown {
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
  #shown: Shown | undefined;
  /** Where bars are now, which differs from the overlay while they move. */
  #tops: number[] = [];

  constructor({ root, onMove }: StageOptions) {
    this.#onMove = onMove;
    this.#media = find(root, '[data-media]', HTMLElement);
    this.#overlay = find(root, '[data-overlay]', HTMLImageElement);
    this.#moving = find(root, '[data-moving]', HTMLCanvasElement);
    this.#handleArea = find(root, '[data-handles]', HTMLElement);
  }

  get isMoving(): boolean {
    return this.#handles.some(({ isHeld }) => isHeld());
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
    const last = this.#overlay.src;
    this.#overlay.src = URL.createObjectURL(png);
    await this.#overlay.decode();
    if (last !== '') URL.revokeObjectURL(last);
    // Taken hold of meanwhile: what is in the hand is not pulled away, and letting go asks again.
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
    while (this.#handles.length > captions.length) this.#handles.pop()?.element.remove();
    while (this.#handles.length < captions.length) this.#addHandle(this.#handles.length);
    this.#handles.forEach((handle, index) => this.#placeHandle(handle, index, captions[index] ?? ''));
  }

  #addHandle(index: number): void {
    const handle = createHandle({
      stageHeight: () => this.#handleArea.parentElement?.clientHeight ?? 1,
      centre: () => this.#centreOf(index),
      move: (position, done) => this.#moveBar(index, position, done),
    });
    this.#handles.push(handle);
    this.#handleArea.append(handle.element);
  }

  #placeHandle({ element }: Handle, index: number, caption: string): void {
    const { height = 1, rows = [] } = this.#shown ?? {};
    element.style.top = `${((this.#tops[index] ?? 0) / height) * 100}%`;
    element.style.height = `${((rows[index]?.height ?? 0) / height) * 100}%`;
    const centre = this.#centreOf(index);
    element.setAttribute('aria-valuenow', String(Math.round(centre)));
    element.setAttribute('aria-valuetext', `${Math.round(centre)} percent from the top`);
    element.setAttribute('aria-label', `Bar ${index + 1}: ${caption}`);
  }

  #centreOf(index: number): number {
    const { height = 1, rows = [] } = this.#shown ?? {};
    return (((this.#tops[index] ?? 0) + (rows[index]?.height ?? 0) / 2) / height) * 100;
  }

  #moveBar(index: number, position: number, done: boolean): void {
    if (this.#shown === undefined) return;
    const { rows, height } = this.#shown;
    const barHeight = rows[index]?.height ?? 0;
    // The service's own rule: the centre at that percentage, then wholly inside.
    const centred = Math.round((position / 100) * height - barHeight / 2);
    this.#tops[index] = Math.min(Math.max(centred, 0), height - barHeight);
    this.#drawMoving(this.#shown);
    const handle = this.#handles[index];
    const caption = handle?.element.getAttribute('aria-label')?.replace(/^Bar \d+: /u, '') ?? '';
    if (handle) this.#placeHandle(handle, index, caption);
    this.#onMove(index, position, done);
  }

  #drawMoving({ bitmap, rows, height }: Shown): void {
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
