// The draggable handle of a bar. For the keyboard and screen readers, it's a vertical slider.

export interface HandleOptions {
  readonly stageHeight: () => number;
  /** The bar's current center, in percent of the height. */
  readonly center: () => number;
  readonly move: (position: number, done: boolean) => void;
}

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
const LARGE_STEP = 5;

export function createHandle(options: HandleOptions): Handle {
  const element = document.createElement('div');
  element.className = 'handle';
  element.tabIndex = 0;
  for (const [name, value] of Object.entries({
    role: 'slider',
    'aria-orientation': 'vertical',
    'aria-valuemin': '0',
    'aria-valuemax': '100',
  })) {
    element.setAttribute(name, value);
  }
  listenToKeys(element, options);
  return { element, isDragging: listenToPointer(element, options) };
}

function listenToKeys(element: HTMLElement, { center, move }: HandleOptions): void {
  element.addEventListener('keydown', (event) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    move(toPosition(center() + (event.shiftKey ? step * LARGE_STEP : step)), true);
  });
}

function listenToPointer(element: HTMLElement, { stageHeight, center, move }: HandleOptions): () => boolean {
  let drag: { readonly y: number; readonly center: number; moved: boolean } | undefined;
  const positionAt = (y: number): number =>
    toPosition((drag?.center ?? 0) + ((y - (drag?.y ?? y)) / stageHeight()) * 100);
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    drag = { y: event.clientY, center: center(), moved: false };
    element.setPointerCapture(event.pointerId);
    element.classList.add('held');
  });
  element.addEventListener('pointermove', (event) => {
    if (drag === undefined || (!drag.moved && Math.abs(event.clientY - drag.y) < 2)) return;
    drag.moved = true;
    move(positionAt(event.clientY), false);
  });
  const endDrag = (event: PointerEvent): void => {
    const position = positionAt(event.clientY);
    const moved = drag?.moved === true;
    drag = undefined;
    element.classList.remove('held');
    if (moved) move(position, true);
  };
  element.addEventListener('pointerup', endDrag);
  element.addEventListener('pointercancel', endDrag);
  return () => drag !== undefined;
}

/** Clamps and rounds to a tenth of a percent, which keeps the number readable. */
function toPosition(value: number): number {
  return Math.round(Math.min(Math.max(value, 0), 100) * 10) / 10;
}
