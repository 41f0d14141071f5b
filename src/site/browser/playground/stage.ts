// The image or video with its caption bars. It shows the overlay rendered by the server. Where a bar was moved or is edited,
// the canvas shows the rows of the last overlay instead, until the server has rendered a new one.

import { isShownAt } from '../../../engine/caption/timing-field.ts';
import { placeBars } from '../../../engine/layout/placement.ts';
import { find } from '../elements.ts';
import { addBar, change, type Editor, newGesture, type EditStep } from './editor.ts';
import { withBar, withCopy, withoutBar } from './edits.ts';
import { createHandle, type Handle, type HandleCommand, type MoveEnd } from './handle.ts';
import { nextTarget, type SnapTarget, snapTargets, snapTo } from './snap.ts';
import { captionsOf, draftOf, type FilledBar, marginsOf, secondsOf, type ShownOverlay, type State } from './state.ts';

/** How close a dragged bar must come to a guide to snap to it. */
const SNAP_PIXELS = 7;

/** A bar where it is now, in pixels of the overlay. */
interface PlacedBar extends FilledBar {
  readonly top: number;
  readonly height: number;
  /** False while the video shows a time at which this bar isn't visible. */
  readonly isShown: boolean;
  readonly isMoved: boolean;
}

/** The bars of the overlay. Those that were moved since are placed as the service will place them. */
export function placedBars(state: Pick<State, 'history' | 'media' | 'overlay' | 'time'>): PlacedBar[] {
  const { overlay } = state;
  // Subtitles can't be dragged.
  if (overlay === undefined || captionsOf(state) !== undefined) return [];
  const isTimed = secondsOf(state) !== undefined;
  const margins = marginsOf(state, overlay.size);
  return overlay.bars.map((bar, index) => {
    const { top = 0, height = 0 } = overlay.rows[index] ?? {};
    const position = draftOf(state).bars.find(({ id }) => id === bar.id)?.position;
    const isMoved = position !== undefined && position !== bar.position;
    const [placed] = isMoved ? placeBars([{ text: bar.text, position }], [height], overlay.size.height, margins) : [];
    const isShown = !isTimed || isShownAt(bar, Math.round(state.time * 1_000));
    return { ...bar, height, top: placed?.top ?? top, isShown, isMoved };
  });
}

export class Stage {
  readonly #store: Editor;
  readonly #root: HTMLElement;
  readonly #area: HTMLElement;
  readonly #handles: Handle[] = [];
  #drag: EditStep | undefined;

  constructor(store: Editor, root: HTMLElement) {
    this.#store = store;
    this.#root = root;
    this.#area = find(root, '[data-handles]', HTMLElement);
    // Otherwise the browser would drag the image itself.
    root.addEventListener('dragstart', (event) => event.preventDefault());
    root.addEventListener('dblclick', ({ target, clientY }) => {
      if (target instanceof Element && target.closest('.handle, textarea')) return;
      const { top, height } = root.getBoundingClientRect();
      const editing = addBar(store, Math.round(((clientY - top) / height) * 1_000) / 10);
      if (editing !== undefined) store.update({ editing });
    });
  }

  watch(): void {
    const store = this.#store;
    store.watch(['isBusy'], ({ isBusy }) => {
      this.#root.ariaBusy = String(isBusy);
    });
    store.watch(['history', 'media', 'overlay', 'time', 'editing', 'isMoving'], (state) => this.#draw(state));
    let hasEditor = false;
    store.watch(['editing'], ({ editing }) => {
      if (editing === undefined || hasEditor) return;
      hasEditor = true;
      void this.#addEditor();
    });
  }

  /** Loaded when it is needed. */
  async #addEditor(): Promise<void> {
    const { captionEditor } = await import('./caption-editor.ts');
    const indexOf = (id: string): number => this.#bars.findIndex((bar) => bar.id === id);
    captionEditor(this.#store, {
      area: this.#area,
      centerOf: (id) => this.#centerOf(indexOf(id), id),
      onKeyEnd: (id) => this.#handles[indexOf(id)]?.element.focus(),
    });
  }

  get #bars(): PlacedBar[] {
    return placedBars(this.#store.state);
  }

  get #overlayHeight(): number {
    return this.#store.state.overlay?.size.height ?? 1;
  }

  get #stageHeight(): number {
    return this.#root.clientHeight || 1;
  }

  #draw(state: State): void {
    const { overlay, editing, isMoving } = state;
    const bars = this.#bars;
    while (this.#handles.length > bars.length) this.#handles.pop()?.element.remove();
    while (this.#handles.length < bars.length) this.#addHandle(this.#handles.length);
    bars.forEach((bar, index) => this.#drawHandle(bar, index));
    const image = find(this.#root, 'img[data-overlay]', HTMLImageElement);
    const canvas = find(this.#root, 'canvas[data-moving]', HTMLCanvasElement);
    const isOnCanvas = overlay !== undefined && (editing !== undefined || isMoving || bars.some((bar) => bar.isMoved));
    if (overlay && isOnCanvas) this.#drawRows(canvas, overlay, bars);
    if (overlay && image.src !== overlay.url) image.src = overlay.url;
    canvas.hidden = !isOnCanvas;
    image.hidden = overlay === undefined || isOnCanvas;
  }

  #addHandle(index: number): void {
    const handle = createHandle({
      stageHeight: () => this.#stageHeight,
      center: () => this.#centerOf(index),
      move: (center, { done, snaps }) => {
        const tolerance = (SNAP_PIXELS / this.#stageHeight) * 100;
        const target = snaps ? snapTo(center, this.#targets(index), tolerance) : undefined;
        this.#move(index, target?.position ?? center, done);
        this.#drawGuide(done ? undefined : target);
      },
      moveToGuide: (direction) => {
        const target = nextTarget(this.#centerOf(index), this.#targets(index), direction);
        if (target) this.#move(index, target.position, 'keys');
      },
      command: (command) => this.#run(command, this.#bars[index]?.id ?? ''),
    });
    this.#handles.push(handle);
    this.#area.append(handle.element);
  }

  #run(command: HandleCommand, id: string): void {
    const draft = draftOf(this.#store.state);
    if (command === 'edit') this.#store.update({ editing: id });
    else if (command === 'duplicate') change(this.#store, withCopy(draft, id));
    else {
      change(this.#store, withoutBar(draft, id));
      document.querySelector<HTMLElement>('[data-add]')?.focus();
    }
  }

  /** A drag is a step of its own. Presses of a key in quick succession are one step together. */
  #move(index: number, position: number, done: MoveEnd): void {
    const bar = this.#bars[index];
    if (bar === undefined) return;
    if (done === 'keys') this.#drag = { key: `move ${bar.id}` };
    else this.#drag ??= newGesture();
    this.#store.update({ isMoving: done === false });
    change(this.#store, withBar(draftOf(this.#store.state), bar.id, { position }), this.#drag);
    if (done) this.#drag = undefined;
  }

  #drawHandle(bar: PlacedBar, index: number): void {
    const element = this.#handles[index]?.element;
    if (element === undefined) return;
    element.hidden = !bar.isShown || bar.id === this.#store.state.editing;
    element.style.top = `${(bar.top / this.#overlayHeight) * 100}%`;
    element.style.height = `${(bar.height / this.#overlayHeight) * 100}%`;
    const center = this.#centerOf(index);
    const guide = snapTo(center, this.#targets(index), 0.1);
    element.setAttribute('aria-valuenow', String(Math.round(center)));
    const place = `${Math.round(center)} percent from the top${guide ? `, ${guide.name}` : ''}`;
    element.setAttribute('aria-valuetext', place);
    element.setAttribute('aria-label', `Caption bar ${index + 1}: ${bar.text}`);
  }

  /** A bar without text isn't in the overlay, so its center is its position. */
  #centerOf(index: number, id?: string): number {
    const bar = this.#bars[index];
    if (bar) return ((bar.top + bar.height / 2) / this.#overlayHeight) * 100;
    return draftOf(this.#store.state).bars.find((one) => one.id === id)?.position ?? 50;
  }

  #targets(index: number): readonly SnapTarget[] {
    const percent = (pixels: number): number => (pixels / this.#overlayHeight) * 100;
    const bars = this.#bars;
    const others = bars.flatMap(({ isShown, top, height }, other) =>
      isShown && other !== index ? [{ top: percent(top), height: percent(height), number: other + 1 }] : [],
    );
    return snapTargets(percent(bars[index]?.height ?? 0), others);
  }

  #drawGuide(target: SnapTarget | undefined): void {
    const guide = find(this.#root, '[data-snap-guide]', HTMLElement);
    guide.hidden = target === undefined;
    if (target) guide.style.top = `${target.line}%`;
  }

  #drawRows(canvas: HTMLCanvasElement, { bitmap, rows, size }: ShownOverlay, bars: readonly PlacedBar[]): void {
    canvas.width = Math.round(this.#root.clientWidth * devicePixelRatio);
    canvas.height = Math.round(this.#root.clientHeight * devicePixelRatio);
    const context = canvas.getContext('2d');
    const scale = canvas.height / size.height;
    bars.forEach(({ id, isShown, top, height }, index) => {
      if (!isShown || id === this.#store.state.editing || height === 0) return;
      const from = rows[index]?.top ?? 0;
      context?.drawImage(bitmap, 0, from, bitmap.width, height, 0, top * scale, canvas.width, height * scale);
    });
  }
}
