// The draggable handle of a bar. For the keyboard and screen readers, it's a vertical slider.

/** How a move ended. False while it goes on. */
export type MoveEnd = false | 'drag' | 'keys';

export interface HandleOptions {
  readonly stageHeight: () => number;
  /** The bar's current center, in percent of the height. */
  readonly center: () => number;
  /** `snaps` is true if the bar may snap to a guide nearby. */
  readonly move: (center: number, options: { readonly done: MoveEnd; readonly snaps: boolean }) => void;
  /** Moves the bar to the next guide above (-1) or below (1). */
  readonly moveToGuide: (direction: -1 | 1) => void;
  readonly command: (command: HandleCommand) => void;
}

export type HandleCommand = 'edit' | 'duplicate' | 'remove';

export interface Handle {
  readonly element: HTMLElement;
  readonly isDragging: () => boolean;
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowUp: -1,
  ArrowLeft: -1,
  ArrowDown: 1,
  ArrowRight: 1,
  PageUp: -10,
  PageDown: 10,
  Home: -100,
  End: 100,
};
const COMMANDS: Readonly<Record<string, HandleCommand>> = { Enter: 'edit', F2: 'edit', Delete: 'remove' };
const LARGE_STEP = 5;
const MIN_DRAG_PIXELS = 4;

export function createHandle(options: HandleOptions): Handle {
  const element = document.createElement('div');
  element.className = 'handle';
  element.tabIndex = 0;
  for (const [name, value] of Object.entries({
    role: 'slider',
    'aria-orientation': 'vertical',
    'aria-valuemin': '0',
    'aria-valuemax': '100',
    'aria-describedby': 'stage-help',
  })) {
    element.setAttribute(name, value);
  }
  listenToKeys(element, options);
  return { element, isDragging: listenToPointer(element, options) };
}

function listenToKeys(element: HTMLElement, { center, move, moveToGuide, command }: HandleOptions): void {
  element.addEventListener('keydown', (event) => {
    const isDuplicate = event.key.toLowerCase() === 'd' && (event.ctrlKey || event.metaKey);
    const named = isDuplicate ? 'duplicate' : COMMANDS[event.key];
    const step = STEPS[event.key];
    if (named === undefined && step === undefined) return;
    event.preventDefault();
    if (named !== undefined) command(named);
    else if (step !== undefined && event.altKey) moveToGuide(step < 0 ? -1 : 1);
    else if (step !== undefined) {
      const wanted = toPosition(center() + (event.shiftKey ? step * LARGE_STEP : step));
      move(wanted, { done: 'keys', snaps: false });
    }
  });
}

function listenToPointer(element: HTMLElement, { stageHeight, center, move, command }: HandleOptions): () => boolean {
  let drag: { readonly y: number; readonly center: number; end: number; moved: boolean } | undefined;
  const centerAt = (y: number): number =>
    toPosition((drag?.center ?? 0) + ((y - (drag?.y ?? y)) / stageHeight()) * 100);
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    drag = { y: event.clientY, center: center(), end: center(), moved: false };
    element.setPointerCapture(event.pointerId);
    element.classList.add('held');
  });
  element.addEventListener('pointermove', (event) => {
    if (drag === undefined || (!drag.moved && Math.abs(event.clientY - drag.y) < MIN_DRAG_PIXELS)) return;
    drag.moved = true;
    drag.end = centerAt(event.clientY);
    move(drag.end, { done: false, snaps: !event.altKey });
  });
  const endDrag = (event: PointerEvent): void => {
    // A canceled drag ends where it was, because the event has no position.
    const { end = 0, moved } = drag ?? {};
    drag = undefined;
    element.classList.remove('held');
    if (moved === true) move(end, { done: 'drag', snaps: !event.altKey });
    else if (moved === false && event.type === 'pointerup') command('edit');
  };
  element.addEventListener('pointerup', endDrag);
  element.addEventListener('pointercancel', endDrag);
  return () => drag !== undefined;
}

/** Clamps and rounds to a tenth of a percent, which keeps the number readable. */
function toPosition(value: number): number {
  return Math.round(Math.min(Math.max(value, 0), 100) * 10) / 10;
}
