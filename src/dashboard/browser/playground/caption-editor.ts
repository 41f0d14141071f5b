// Typing on the image: a text field that replaces a bar and is shaped like it. When the visitor leaves the field, the
// server draws the bar again.

import { lookOf } from '../../../layout/look.ts';
import { scaleFor } from '../../../layout/style.ts';

export interface EditedBar {
  readonly id: string;
  readonly text: string;
  /** The center of the bar in percent of the height. */
  readonly center: number;
}

export interface CaptionEditorOptions {
  readonly area: HTMLElement;
  readonly onInput: (id: string, text: string) => void;
  /** `byKey` is true if the visitor ended it with a key, so the focus should return to the bar. */
  readonly onEnd: (id: string, text: string, byKey: boolean) => void;
}

/** A smaller text would be unreadable while it is typed. */
const MIN_FONT_PIXELS = 12;

export class CaptionEditor {
  readonly #options: CaptionEditorOptions;
  readonly #field = document.createElement('textarea');
  #id: string | undefined;

  constructor(options: CaptionEditorOptions) {
    this.#options = options;
    const field = this.#field;
    field.className = 'caption-editor';
    field.rows = 1;
    field.dir = 'auto';
    field.hidden = true;
    field.setAttribute('aria-describedby', 'editor-help');
    field.addEventListener('input', () => {
      this.#grow();
      if (this.#id !== undefined) options.onInput(this.#id, field.value);
    });
    field.addEventListener('blur', () => this.#end(false));
    field.addEventListener('keydown', (event) => {
      const isDone = event.key === 'Escape' || (event.key === 'Enter' && (event.ctrlKey || event.metaKey));
      if (!isDone || event.isComposing) return;
      event.preventDefault();
      this.#end(true);
    });
    options.area.append(field);
  }

  get id(): string | undefined {
    return this.#id;
  }

  /** `size` is a multiple of the default font size. */
  open({ id, text, center }: EditedBar, label: string, size: number): void {
    const field = this.#field;
    this.#id = id;
    field.value = text;
    field.setAttribute('aria-label', label);
    field.hidden = false;
    const { clientWidth: width = 0, clientHeight: height = 0 } = this.#options.area.parentElement ?? {};
    const { fontSize } = scaleFor({ width, height }, lookOf({ size }));
    field.style.fontSize = `${Math.max(MIN_FONT_PIXELS, fontSize)}px`;
    this.moveTo(center);
    this.#grow();
    field.focus({ preventScroll: true });
    field.select();
  }

  /** Keeps the field where the service places the bar. */
  moveTo(center: number): void {
    this.#field.style.top = `${center}%`;
  }

  /** Called when the text was changed elsewhere, for example by undo. */
  refresh(text: string): void {
    if (this.#id === undefined || this.#field.value === text) return;
    this.#field.value = text;
    this.#grow();
  }

  #grow(): void {
    const field = this.#field;
    field.style.height = 'auto';
    field.style.height = `${field.scrollHeight}px`;
  }

  #end(byKey: boolean): void {
    const id = this.#id;
    if (id === undefined) return;
    this.#id = undefined;
    this.#field.hidden = true;
    this.#options.onEnd(id, this.#field.value, byKey);
  }
}
