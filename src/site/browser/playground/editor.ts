// Changes of the draft: each is a step that can be undone.

import { type Draft, newBar } from './draft.ts';
import { withBar, withField, withNewBar } from './edits.ts';
import { record, redo, undo } from './history.ts';
import { draftOf, type State } from './state.ts';
import type { StateStore } from './store.ts';

export type Editor = StateStore<State>;

export interface EditStep {
  /** Changes with the same key in quick succession are one step. */
  readonly key?: string;
  readonly isGesture?: boolean;
}

/** Counts gestures, so that each is a step of its own. */
let gestures = 0;

export function newGesture(): EditStep {
  return { key: `gesture ${(gestures += 1)}`, isGesture: true };
}

export function change(store: Editor, draft: Draft, step: EditStep = {}): void {
  store.update({ history: record(store.state.history, draft, { ...step, now: performance.now() }) });
}

export function setField(store: Editor, name: string, value: string): void {
  change(store, withField(draftOf(store.state), name, value), { key: `field ${name}` });
}

export function setText(store: Editor, id: string, text: string): void {
  change(store, withBar(draftOf(store.state), id, { text }), { key: `text ${id}` });
}

export function textOf({ state }: Editor, id: string): string {
  return draftOf(state).bars.find((bar) => bar.id === id)?.text ?? '';
}

/** Returns the id of the new caption, or undefined when the list is full. */
export function addBar(store: Editor, position?: number): string | undefined {
  const bar = newBar({ text: '', position });
  const draft = draftOf(store.state);
  change(store, withNewBar(draft, bar));
  return draftOf(store.state) === draft ? undefined : bar.id;
}

function undoOrRedo(store: Editor, direction: 'undo' | 'redo'): void {
  const { history } = store.state;
  store.update({ history: direction === 'undo' ? undo(history) : redo(history) });
}

/** Ctrl+Z and similar. The browser's own undo covers only text fields and fails when a script changes their text. */
export function listenToUndo(store: Editor, root: HTMLElement): void {
  for (const direction of ['undo', 'redo'] as const) {
    const button = root.querySelector<HTMLButtonElement>(`[data-${direction}]`);
    button?.addEventListener('click', () => undoOrRedo(store, direction));
    store.watch(['history'], ({ history }) => {
      if (button) button.disabled = history[direction === 'undo' ? 'past' : 'future'].length === 0;
    });
  }
  document.addEventListener('keydown', (event) => {
    const isSecret = event.target instanceof HTMLInputElement && event.target.type === 'password';
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || isSecret || (key !== 'z' && key !== 'y')) return;
    event.preventDefault();
    undoOrRedo(store, key === 'y' || event.shiftKey ? 'redo' : 'undo');
  });
}
