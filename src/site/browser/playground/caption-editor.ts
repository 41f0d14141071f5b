// Typing on the image: a text field that replaces a bar and is shaped like it. When the visitor leaves the field, the
// server draws the bar again.

import { lookOf } from '../../../engine/layout/look.ts';
import { scaleFor } from '../../../engine/layout/style.ts';
import { change, type Editor, setText, textOf } from './editor.ts';
import { withoutBar } from './edits.ts';
import { draftOf, filledBars, fontSizeOf } from './state.ts';

/** A smaller text would be unreadable while it is typed. */
const MIN_FONT_PIXELS = 12;

export interface CaptionEditorOptions {
  readonly area: HTMLElement;
  /** The center of the bar in percent of the height. */
  readonly centerOf: (id: string) => number;
  /** Called if the visitor ended it with a key, so the focus should return to the bar. */
  readonly onKeyEnd: (id: string) => void;
}

export function captionEditor(store: Editor, { area, centerOf, onKeyEnd }: CaptionEditorOptions): void {
  const field = document.createElement('textarea');
  Object.assign(field, { className: 'caption-editor', rows: 1, dir: 'auto', hidden: true });
  field.setAttribute('aria-describedby', 'editor-help');
  area.append(field);
  let opened: string | undefined;
  const grow = (): void => {
    field.style.height = 'auto';
    field.style.height = `${field.scrollHeight}px`;
  };
  const end = (byKey: boolean): void => {
    const id = store.state.editing;
    if (id === undefined) return;
    store.update({ editing: undefined });
    if (field.value.trim() === '') change(store, withoutBar(draftOf(store.state), id));
    else if (byKey) onKeyEnd(id);
  };
  field.addEventListener('input', () => {
    if (opened !== undefined) setText(store, opened, field.value);
  });
  field.addEventListener('blur', () => end(false));
  field.addEventListener('keydown', (event) => {
    const isDone = event.key === 'Escape' || (event.key === 'Enter' && (event.ctrlKey || event.metaKey));
    if (!isDone || event.isComposing) return;
    event.preventDefault();
    end(true);
  });
  store.watch(['editing', 'history', 'overlay'], (state) => {
    const { editing } = state;
    const isNew = editing !== opened;
    opened = editing;
    field.hidden = editing === undefined;
    if (editing === undefined) return;
    const text = textOf(store, editing);
    if (field.value !== text) field.value = text;
    field.style.top = `${centerOf(editing)}%`;
    if (isNew) {
      const number = filledBars(state).findIndex(({ id }) => id === editing) + 1;
      field.setAttribute('aria-label', number === 0 ? 'Text of the new caption' : `Text of caption bar ${number}`);
      const { clientWidth: width = 0, clientHeight: height = 0 } = area.parentElement ?? {};
      const { fontSize } = scaleFor({ width, height }, lookOf({ size: fontSizeOf(state) }));
      field.style.fontSize = `${Math.max(MIN_FONT_PIXELS, fontSize)}px`;
      field.focus({ preventScroll: true });
      field.select();
    }
    grow();
  });
}
