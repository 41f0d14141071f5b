// The part of a bar that is taken hold of: by pointer, or by keyboard as a vertical slider.

export interface HandleOptions {
  readonly stageHeight: () => number;
  /** The bar's centre now, in percent of the height. */
  readonly centre: () => number;
  readonly move: (position: number, done: boolean) => void;
}

export interface Handle {
  readonly element: HTMLElement;
  readonly isHeld: () => boolean;
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
  return { element, isHeld: listenToPointer(element, options) };
}

function listenToKeys(element: HTMLElement, { centre, move }: HandleOptions): void {
  element.addEventListener('keydown', (event) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    move(toPosition(centre() + (event.shiftKey ? step * LARGE_STEP : step)), true);
  });
}

function listenToPointer(element: HTMLElement, { stageHeight, centre, move }: HandleOptions): () => boolean {
  let held: { readonly y: number; readonly centre: number; moved: boolean } | undefined;
  const positionAt = (y: number): number =>
    toPosition((held?.centre ?? 0) + ((y - (held?.y ?? y)) / stageHeight()) * 100);
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    held = { y: event.clientY, centre: centre(), moved: false };
    element.setPointerCapture(event.pointerId);
    element.classList.add('held');
  });
  element.addEventListener('pointermove', (event) => {
    if (held === undefined || (!held.moved && Math.abs(event.clientY - held.y) < 2)) return;
    held.moved = true;
    move(positionAt(event.clientY), false);
  });
  const letGo = (event: PointerEvent): void => {
    const position = positionAt(event.clientY);
    const moved = held?.moved === true;
    held = undefined;
    element.classList.remove('held');
    if (moved) move(position, true);
  };
  element.addEventListener('pointerup', letGo);
  element.addEventListener('pointercancel', letGo);
  return () => held !== undefined;
}

/** To a tenth of a percent: finer than a finger, coarse enough to read. */
function toPosition(value: number): number {
  return Math.round(Math.min(Math.max(value, 0), 100) * 10) / 10;
}
