// The list of caption and position fields. The fields themselves are the only state.

import { find } from './elements.ts';
import type { SnippetOverlay } from './snippets.ts';

export interface BarListOptions {
  readonly list: HTMLOListElement;
  readonly template: HTMLTemplateElement;
  readonly addButton: HTMLButtonElement;
  readonly maxBars: number;
  readonly maxText: number;
  /** Default positions by index. */
  readonly defaults: readonly number[];
  readonly onChange: () => void;
}

/** Nothing for an empty field. */
function valueOf<Name extends string>(name: Name, { value }: HTMLInputElement): { readonly [Key in Name]?: number } {
  const number = value.trim() === '' ? Number.NaN : Number(value);
  return Number.isNaN(number) ? {} : ({ [name]: number } as { readonly [Key in Name]?: number });
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

export class BarList {
  readonly #options: BarListOptions;
  #hasTimes = false;

  constructor(options: BarListOptions) {
    this.#options = options;
    options.list.addEventListener('input', () => this.#changed());
    options.addButton.addEventListener('click', () => this.add('').focus());
  }

  /** The overlays to send. Captions without text are left out. */
  get overlays(): SnippetOverlay[] {
    return this.#filled.map(({ text, position, start, end }) => ({
      text: text.value.trim(),
      ...valueOf('position', position),
      ...(this.#hasTimes && { ...valueOf('start', start), ...valueOf('end', end) }),
    }));
  }

  /** Times are only for videos. */
  showTimes(hasTimes: boolean): void {
    this.#hasTimes = hasTimes;
    this.#changed();
  }

  add(caption: string): HTMLTextAreaElement {
    const { list, template } = this.#options;
    const item = find(template.content.cloneNode(true) as DocumentFragment, 'li', HTMLLIElement);
    const text = find(item, '[data-text]', HTMLTextAreaElement);
    text.value = caption;
    find(item, '[data-remove]', HTMLButtonElement).addEventListener('click', () => {
      item.remove();
      this.#changed();
      // Without this, focus would jump to the top of the page.
      this.#options.addButton.focus();
    });
    list.append(item);
    this.#changed();
    return text;
  }

  /** `index` counts only captions with text, like `overlays`. */
  setPosition(index: number, value: number): void {
    const bar = this.#filled[index];
    if (bar) bar.position.value = String(value);
  }

  get #bars() {
    return [...this.#options.list.children].map((item) => ({
      item,
      text: find(item, '[data-text]', HTMLTextAreaElement),
      position: find(item, '[data-position]', HTMLInputElement),
      times: find(item, '[data-times]', HTMLElement),
      start: find(item, '[data-start]', HTMLInputElement),
      end: find(item, '[data-end]', HTMLInputElement),
    }));
  }

  get #filled() {
    return this.#bars.filter(({ text }) => text.value.trim() !== '');
  }

  #changed(): void {
    const { addButton, maxBars, onChange } = this.#options;
    this.#bars.forEach((bar, index) => {
      this.#label(bar, index);
      bar.times.hidden = !this.#hasTimes;
      bar.start.setAttribute('aria-label', `Start of caption ${index + 1} in seconds`);
      bar.end.setAttribute('aria-label', `End of caption ${index + 1} in seconds`);
    });
    this.#filled.forEach(({ position }, index) => {
      position.placeholder = String(this.#options.defaults[index] ?? '');
    });
    addButton.disabled = this.#options.list.children.length >= maxBars;
    onChange();
  }

  #label(
    { item, text, position }: { item: Element; text: HTMLTextAreaElement; position: HTMLInputElement },
    index: number,
  ) {
    const number = index + 1;
    const label = find(item, '[data-text-label]', HTMLLabelElement);
    label.textContent = `Caption ${number}`;
    text.id = `caption-${number}`;
    label.htmlFor = text.id;
    position.setAttribute('aria-label', `Position of caption ${number}`);
    find(item, '[data-remove]', HTMLButtonElement).setAttribute('aria-label', `Remove caption ${number}`);
    const length = [...segmenter.segment(text.value.trim())].length;
    const count = find(item, '[data-count]', HTMLElement);
    count.textContent = `${length} / ${this.#options.maxText}`;
    count.classList.toggle('over', length > this.#options.maxText);
  }
}
