// The image or video with its caption bars. It shows the overlay rendered by the server. While a bar is dragged or
// edited, the canvas shows the rows of the last overlay instead. Afterwards the server renders a new one.

import type { Margins } from '../../../caption/safe-area.ts';
import { placeBars } from '../../../layout/placement.ts';
import { find } from '../elements.ts';
import type { BarRows, PreviewResult } from '../preview.ts';
import { CaptionEditor } from './caption-editor.ts';
import { createHandle, type Handle, type HandleCommand, type MoveEnd } from './handle.ts';
import { nextTarget, type SnapTarget, snapTargets, snapTo } from './snap.ts';

/** A bar of the overlay. */
export interface StageBar {
  readonly id: string;
  readonly text: string;
  /** False while the video shows a time at which this bar isn't visible. */
  readonly isShown: boolean;
}

export interface StageOptions {
  readonly root: HTMLElement;
  /** Called while a bar moves; `done` is true at the end of the move. */
  readonly onMove: (id: string, position: number, done: MoveEnd) => void;
  readonly onCommand: (id: string, command: HandleCommand) => void;
  /** Called when the visitor double-clicked a place without a bar. */
  readonly onAdd: (position: number) => void;
  readonly onType: (id: string, text: string) => void;
  readonly onTyped: (id: string, text: string) => void;
}

interface ShownOverlay {
  readonly bitmap: ImageBitmap;
  readonly rows: readonly BarRows[];
  readonly height: number;
  /** The margins of the safe area. */
  readonly margins: Margins;
}

/** How close a dragged bar must come to a guide to snap to it. */
const SNAP_PIXELS = 7;

export class Stage {
  readonly #options: StageOptions;
  readonly #media: HTMLElement;
  readonly #overlay: HTMLImageElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #handleArea: HTMLElement;
  readonly #guide: HTMLElement;
  readonly #editor: CaptionEditor;
  #handles: Handle[] = [];
  #shown: ShownOverlay | undefined;
  #bars: readonly StageBar[] = [];
  /** Current top of each bar, which differs from the overlay while a bar moves. */
  #tops: number[] = [];

  constructor(options: StageOptions) {
    const { root, onType, onTyped } = options;
    this.#options = options;
    this.#media = find(root, '[data-media]', HTMLElement);
    this.#overlay = find(root, '[data-overlay]', HTMLImageElement);
    this.#canvas = find(root, '[data-moving]', HTMLCanvasElement);
    this.#handleArea = find(root, '[data-handles]', HTMLElement);
    this.#guide = find(root, '[data-snap-guide]', HTMLElement);
    this.#editor = new CaptionEditor({
      area: this.#handleArea,
      onInput: onType,
      onEnd: (id, text, byKey) => {
        this.#draw();
        onTyped(id, text);
        if (byKey) this.#handleOf(id)?.element.focus();
      },
    });
    // Otherwise the browser would drag the image itself.
    root.addEventListener('dragstart', (event) => event.preventDefault());
    root.addEventListener('dblclick', ({ target, clientY }) => {
      if (target instanceof Element && target.closest('.handle, textarea')) return;
      const { top, height } = root.getBoundingClientRect();
      options.onAdd(Math.round(((clientY - top) / height) * 1_000) / 10);
    });
  }

  get isMoving(): boolean {
    return this.#handles.some(({ isDragging }) => isDragging());
  }

  /** Returns the centers of the bars in percent of the height. */
  get centers(): readonly number[] {
    return this.#bars.map((_bar, index) => this.#centerOf(index));
  }

  showMedia(element: HTMLElement): void {
    this.#media.replaceChildren(element);
    this.clear();
  }

  clear(): void {
    this.#overlay.hidden = true;
    this.#canvas.hidden = true;
    this.#shown = undefined;
    this.#setBars([]);
  }

  async showOverlay(
    { png, rows }: PreviewResult,
    bars: readonly StageBar[],
    { height, margins }: Pick<ShownOverlay, 'height' | 'margins'>,
  ): Promise<void> {
    const bitmap = await createImageBitmap(png);
    const previous = this.#overlay.src;
    this.#overlay.src = URL.createObjectURL(png);
    await this.#overlay.decode();
    if (previous !== '') URL.revokeObjectURL(previous);
    // The visitor has started another drag in the meantime, whose end requests a new overlay.
    if (this.isMoving) {
      bitmap.close();
      return;
    }
    this.#shown?.bitmap.close();
    this.#shown = { bitmap, rows, height, margins };
    this.#tops = rows.map(({ top }) => top);
    this.#setBars(bars);
    this.#draw();
    const edited = bars.findIndex(({ id }) => id === this.#editor.id);
    if (edited !== -1) this.#editor.moveTo(this.#centerOf(edited));
  }

  /** Lets the visitor type on the image. A bar without text isn't in the overlay, so its position must be given. */
  edit(id: string, text: string, { size, position = 50 }: { readonly size: number; readonly position?: number }): void {
    const index = this.#bars.findIndex((bar) => bar.id === id);
    const center = index === -1 ? position : this.#centerOf(index);
    this.#editor.open(
      { id, text, center },
      index === -1 ? 'Text of the new caption' : `Text of caption bar ${index + 1}`,
      size,
    );
    this.#draw();
  }

  /** Called when the text of the edited bar was changed elsewhere. */
  refreshEditor(textOf: (id: string) => string): void {
    if (this.#editor.id !== undefined) this.#editor.refresh(textOf(this.#editor.id));
  }

  #setBars(bars: readonly StageBar[]): void {
    this.#bars = bars;
    while (this.#handles.length > bars.length) this.#handles.pop()?.element.remove();
    while (this.#handles.length < bars.length) this.#addHandle(this.#handles.length);
    this.#handles.forEach((handle, index) => this.#placeHandle(handle, index));
  }

  #addHandle(index: number): void {
    const idOf = (): string => this.#bars[index]?.id ?? '';
    const handle = createHandle({
      stageHeight: () => this.#stageHeight,
      center: () => this.#centerOf(index),
      move: (center, { done, snaps }) => {
        const tolerance = (SNAP_PIXELS / this.#stageHeight) * 100;
        const target = snaps ? snapTo(center, this.#targets(index), tolerance) : undefined;
        this.#moveBar(index, target?.position ?? center, done);
        this.#showGuide(done ? undefined : target);
      },
      moveToGuide: (direction) => {
        const target = nextTarget(this.#centerOf(index), this.#targets(index), direction);
        if (target) this.#moveBar(index, target.position, 'keys');
      },
      command: (command) => this.#options.onCommand(idOf(), command),
    });
    this.#handles.push(handle);
    this.#handleArea.append(handle.element);
  }

  #handleOf(id: string): Handle | undefined {
    return this.#handles[this.#bars.findIndex((bar) => bar.id === id)];
  }

  #placeHandle({ element }: Handle, index: number): void {
    const { height = 1, rows = [] } = this.#shown ?? {};
    const bar = this.#bars[index];
    element.hidden = bar?.isShown !== true || bar.id === this.#editor.id;
    element.style.top = `${((this.#tops[index] ?? 0) / height) * 100}%`;
    element.style.height = `${((rows[index]?.height ?? 0) / height) * 100}%`;
    const center = this.#centerOf(index);
    const guide = snapTo(center, this.#targets(index), 0.1);
    element.setAttribute('aria-valuenow', String(Math.round(center)));
    element.setAttribute(
      'aria-valuetext',
      `${Math.round(center)} percent from the top${guide ? `, ${guide.name}` : ''}`,
    );
    element.setAttribute('aria-label', `Caption bar ${index + 1}: ${bar?.text}`);
  }

  #centerOf(index: number): number {
    const { height = 1, rows = [] } = this.#shown ?? {};
    return (((this.#tops[index] ?? 0) + (rows[index]?.height ?? 0) / 2) / height) * 100;
  }

  #targets(index: number): readonly SnapTarget[] {
    const { height = 1, rows = [] } = this.#shown ?? {};
    const percent = (pixels = 0): number => (pixels / height) * 100;
    const others = this.#bars.flatMap(({ isShown }, other) =>
      isShown && other !== index
        ? [{ top: percent(this.#tops[other]), height: percent(rows[other]?.height), number: other + 1 }]
        : [],
    );
    return snapTargets(percent(rows[index]?.height), others);
  }

  #showGuide(target: SnapTarget | undefined): void {
    this.#guide.hidden = target === undefined;
    if (target) this.#guide.style.top = `${target.line}%`;
  }

  get #stageHeight(): number {
    return this.#handleArea.parentElement?.clientHeight ?? 1;
  }

  #moveBar(index: number, position: number, done: MoveEnd): void {
    const bar = this.#bars[index];
    if (this.#shown === undefined || bar === undefined) return;
    const { rows, height, margins } = this.#shown;
    const [placed] = placeBars([{ text: bar.text, position }], [rows[index]?.height ?? 0], height, margins);
    this.#tops[index] = placed?.top ?? 0;
    this.#draw(true);
    const handle = this.#handles[index];
    if (handle) this.#placeHandle(handle, index);
    this.#options.onMove(bar.id, position, done);
  }

  /** Shows the overlay as it is, or its rows on the canvas while bars move or are edited. */
  #draw(isMoving = false): void {
    const isEditing = this.#editor.id !== undefined;
    this.#handles.forEach((handle, index) => this.#placeHandle(handle, index));
    const isOnCanvas = this.#shown !== undefined && (isMoving || isEditing);
    if (this.#shown && isOnCanvas) this.#drawRows(this.#shown);
    this.#canvas.hidden = !isOnCanvas;
    this.#overlay.hidden = this.#shown === undefined || isOnCanvas;
  }

  #drawRows({ bitmap, rows, height }: ShownOverlay): void {
    const canvas = this.#canvas;
    const { clientWidth = 1, clientHeight = 1 } = this.#handleArea.parentElement ?? {};
    canvas.width = Math.round(clientWidth * devicePixelRatio);
    canvas.height = Math.round(clientHeight * devicePixelRatio);
    const context = canvas.getContext('2d');
    if (context === null) return;
    const scale = canvas.height / height;
    rows.forEach(({ top, height: barHeight }, index) => {
      const { id, isShown } = this.#bars[index] ?? {};
      if (isShown !== true || id === this.#editor.id || barHeight === 0) return;
      const target = (this.#tops[index] ?? top) * scale;
      context.drawImage(bitmap, 0, top, bitmap.width, barHeight, 0, target, canvas.width, barHeight * scale);
    });
  }
}
