// The captions and positions as a list of fields. The fields are the state; nothing is kept beside them.

import { find } from './elements.ts';
import type { CallOverlay } from './snippets.ts';

export interface BarListOptions {
  readonly list: HTMLOListElement;
  readonly template: HTMLTemplateElement;
  readonly addButton: HTMLButtonElement;
  readonly maxBars: number;
  readonly maxText: number;
  /** Default position by place in the list. */
  readonly defaults: readonly number[];
  readonly onChange: () => void;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

export class BarList {
  readonly #options: BarListOptions;

  constructor(options: BarListOptions) {
    this.#options = options;
    options.list.addEventListener('input', () => this.#changed());
    options.addButton.addEventListener('click', () => this.add('').focus());
  }

  /** What would be sent: a bar without text is not there yet. */
  get overlays(): CallOverlay[] {
    return this.#written.map(({ text, position }) => {
      const value = position.value.trim() === '' ? Number.NaN : Number(position.value);
      return Number.isNaN(value) ? { text: text.value.trim() } : { text: text.value.trim(), position: value };
    });
  }

  add(caption: string): HTMLTextAreaElement {
    const { list, template } = this.#options;
    const item = find(template.content.cloneNode(true) as DocumentFragment, 'li', HTMLLIElement);
    const text = find(item, '[data-text]', HTMLTextAreaElement);
    text.value = caption;
    find(item, '[data-remove]', HTMLButtonElement).addEventListener('click', () => {
      item.remove();
      this.#changed();
      // Keyboard users would otherwise start again at the top of the page.
      this.#options.addButton.focus();
    });
    list.append(item);
    this.#changed();
    return text;
  }

  /** `index`: among the overlays that would be sent. */
  setPosition(index: number, value: number): void {
    const bar = this.#written[index];
    if (bar) bar.position.value = String(value);
  }

  get #bars() {
    return [...this.#options.list.children].map((item) => ({
      item,
      text: find(item, '[data-text]', HTMLTextAreaElement),
      position: find(item, '[data-position]', HTMLInputElement),
    }));
  }

  get #written() {
    return this.#bars.filter(({ text }) => text.value.trim() !== '');
  }

  #changed(): void {
    const { addButton, maxBars, onChange } = this.#options;
    this.#bars.forEach((bar, index) => this.#label(bar, index));
    this.#written.forEach(({ position }, index) => {
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
    position.setAttribute('aria-label', `Position of bar ${number}`);
    find(item, '[data-remove]', HTMLButtonElement).setAttribute('aria-label', `Remove bar ${number}`);
    const length = [...segmenter.segment(text.value.trim())].length;
    const count = find(item, '[data-count]', HTMLElement);
    count.textContent = `${length} / ${this.#options.maxText}`;
    count.classList.toggle('over', length > this.#options.maxText);
  }
}
