// The list of caption, position and time fields. The fields themselves are the only state.

import { countGraphemes } from '../../../caption/graphemes.ts';
import { defaultPosition, MAX_OVERLAYS, MAX_TEXT_GRAPHEMES } from '../../../caption/overlay.ts';
import { find } from '../elements.ts';
import type { DraftBar } from './draft.ts';

export interface BarListOptions {
  readonly list: HTMLOListElement;
  readonly template: HTMLTemplateElement;
  readonly addButton: HTMLButtonElement;
  /** Visible until the first caption is added. */
  readonly emptyHint: HTMLElement;
  /** Changes with the same key, such as letters typed into a field, are one undo step. */
  readonly onChange: (key?: string) => void;
}

/** A caption with text. */
export interface FilledBar extends DraftBar {
  /** Stays the same when captions are reordered or removed. */
  readonly id: string;
}

interface BarFields {
  readonly item: HTMLLIElement;
  readonly text: HTMLTextAreaElement;
  readonly position: HTMLInputElement;
  readonly start: HTMLInputElement;
  readonly end: HTMLInputElement;
}

/** Returns nothing for an empty field. */
function valueOf<Name extends string>(name: Name, { value }: HTMLInputElement): { readonly [Key in Name]?: number } {
  const number = value.trim() === '' ? Number.NaN : Number(value);
  return Number.isNaN(number) ? {} : ({ [name]: number } as { readonly [Key in Name]?: number });
}

let lastId = 0;

export class BarList {
  readonly #options: BarListOptions;
  #hasTimes = false;

  constructor(options: BarListOptions) {
    this.#options = options;
    options.list.addEventListener('input', ({ target }) => {
      const field = target instanceof HTMLElement ? target : undefined;
      this.#changed(`${field?.closest('li')?.id} ${Object.keys(field?.dataset ?? {}).join(' ')}`);
    });
    options.addButton.addEventListener('click', () => this.focus(this.add()));
  }

  /** Returns all captions, including those without text. */
  get bars(): DraftBar[] {
    return this.#bars.map(({ text, position, start, end }) => ({
      text: text.value,
      ...valueOf('position', position),
      ...valueOf('start', start),
      ...valueOf('end', end),
    }));
  }

  /** Returns captions with text, as they are sent. Times are only for videos. */
  get filled(): FilledBar[] {
    return this.#filled.map(({ item, text, position, start, end }) => ({
      id: item.id,
      text: text.value.trim(),
      ...valueOf('position', position),
      ...(this.#hasTimes && { ...valueOf('start', start), ...valueOf('end', end) }),
    }));
  }

  /** Replaces all captions, for example to undo a change. Doesn't report a change. */
  restore(bars: readonly DraftBar[]): void {
    const { list } = this.#options;
    while (list.children.length > bars.length) list.lastElementChild?.remove();
    while (list.children.length < bars.length) this.#append();
    this.#bars.forEach((fields, index) => fill(fields, bars[index]));
    this.#update();
  }

  showTimes(hasTimes: boolean): void {
    this.#hasTimes = hasTimes;
    this.#update();
  }

  /** Returns the id of the new caption, or undefined when the list is full. */
  add(bar: DraftBar = { text: '' }, after?: string): string | undefined {
    if (this.#options.list.children.length >= MAX_OVERLAYS) return undefined;
    const fields = this.#append();
    fill(fields, bar);
    if (after !== undefined) this.#find(after)?.item.after(fields.item);
    this.#changed();
    return fields.item.id;
  }

  /** Inserts a copy below, at a default position so that it covers nothing. */
  duplicate(id: string): string | undefined {
    const index = this.#bars.findIndex(({ item }) => item.id === id);
    const bar = this.bars[index];
    if (bar === undefined) return undefined;
    const { position: _position, ...copy } = bar;
    return this.add(copy, id);
  }

  remove(id: string): void {
    this.#find(id)?.item.remove();
    this.#changed();
  }

  setText(id: string, text: string): void {
    const bar = this.#find(id);
    if (bar === undefined || bar.text.value === text) return;
    bar.text.value = text;
    this.#changed(`${id} text`);
  }

  textOf(id: string): string {
    return this.#find(id)?.text.value ?? '';
  }

  /** Doesn't report a change, because dragging a bar causes many of them. */
  setPosition(id: string, position: number): void {
    const bar = this.#find(id);
    if (bar) bar.position.value = String(position);
  }

  setTimes(id: string, { start, end }: Pick<DraftBar, 'start' | 'end'>): void {
    const bar = this.#find(id);
    if (bar === undefined) return;
    bar.start.value = start === undefined ? '' : String(start);
    bar.end.value = end === undefined ? '' : String(end);
  }

  /** Shows the positions of bars that have none of their own. */
  showPositions(centers: readonly number[]): void {
    this.#filled.forEach(({ position }, index) => {
      const center = centers[index];
      if (center !== undefined) position.placeholder = String(Math.round(center));
    });
  }

  focus(id: string | undefined): void {
    if (id !== undefined) this.#find(id)?.text.focus();
  }

  #append(): BarFields {
    const { list, template } = this.#options;
    const item = find(template.content.cloneNode(true) as DocumentFragment, 'li', HTMLLIElement);
    item.id = `bar-${(lastId += 1)}`;
    const onClick = (selector: string, act: () => void): void =>
      find(item, selector, HTMLButtonElement).addEventListener('click', act);
    onClick('[data-remove]', () => {
      const next = item.nextElementSibling ?? item.previousElementSibling;
      this.remove(item.id);
      // Otherwise focus would jump to the top of the page.
      if (next === null) this.#options.addButton.focus();
      else this.focus(next.id);
    });
    onClick('[data-duplicate]', () => this.focus(this.duplicate(item.id)));
    onClick('[data-up]', () => this.#move(item, item.previousElementSibling, 'before', '[data-up]'));
    onClick('[data-down]', () => this.#move(item, item.nextElementSibling, 'after', '[data-down]'));
    list.append(item);
    return fieldsOf(item);
  }

  #move(item: HTMLLIElement, neighbor: Element | null, side: 'before' | 'after', button: string): void {
    neighbor?.[side](item);
    this.#changed();
    const pressed = find(item, button, HTMLButtonElement);
    if (pressed.disabled) this.focus(item.id);
    else pressed.focus();
  }

  #find(id: string): BarFields | undefined {
    return this.#bars.find(({ item }) => item.id === id);
  }

  get #bars(): BarFields[] {
    return [...this.#options.list.querySelectorAll<HTMLLIElement>(':scope > li')].map(fieldsOf);
  }

  get #filled(): BarFields[] {
    return this.#bars.filter(({ text }) => text.value.trim() !== '');
  }

  #changed(key?: string): void {
    this.#update();
    this.#options.onChange(key);
  }

  #update(): void {
    const { addButton, emptyHint } = this.#options;
    const bars = this.#bars;
    bars.forEach((bar, index) => this.#label(bar, index, bars.length));
    this.#filled.forEach(({ position }, index) => {
      position.placeholder = String(defaultPosition(index));
    });
    addButton.disabled = bars.length >= MAX_OVERLAYS;
    emptyHint.hidden = bars.length > 0;
  }

  #label({ item, text, position, start, end }: BarFields, index: number, count: number): void {
    const number = index + 1;
    const label = find(item, '[data-text-label]', HTMLLabelElement);
    label.textContent = `Caption ${number}`;
    text.id = `caption-${number}`;
    label.htmlFor = text.id;
    find(item, '[data-times]', HTMLElement).hidden = !this.#hasTimes;
    position.setAttribute('aria-label', `Position of caption ${number}`);
    start.setAttribute('aria-label', `Start of caption ${number} in seconds`);
    end.setAttribute('aria-label', `End of caption ${number} in seconds`);
    const nameButton = (selector: string, name: string, isDisabled = false): void => {
      const button = find(item, selector, HTMLButtonElement);
      button.setAttribute('aria-label', name);
      button.title = name;
      button.disabled = isDisabled;
    };
    nameButton('[data-up]', `Move caption ${number} up`, index === 0);
    nameButton('[data-down]', `Move caption ${number} down`, index === count - 1);
    nameButton('[data-duplicate]', `Duplicate caption ${number}`, count >= MAX_OVERLAYS);
    nameButton('[data-remove]', `Remove caption ${number}`);
    this.#check({ text, position, end, start }, find(item, '[data-count]', HTMLElement));
  }

  /** Marks values that the service would refuse. */
  #check({ text, position, start, end }: Omit<BarFields, 'item'>, count: HTMLElement): void {
    const length = countGraphemes(text.value.trim());
    const isTooLong = length > MAX_TEXT_GRAPHEMES;
    count.textContent = `${length} / ${MAX_TEXT_GRAPHEMES}`;
    count.classList.toggle('over', isTooLong);
    text.ariaInvalid = String(isTooLong);
    // The browser then reports this at the field instead of sending the form.
    text.setCustomValidity(isTooLong ? `Captions can have up to ${MAX_TEXT_GRAPHEMES} characters.` : '');
    position.ariaInvalid = String(!position.checkValidity());
    start.ariaInvalid = String(!start.checkValidity());
    const isBackward = this.#hasTimes && end.value !== '' && Number(end.value) <= Number(start.value);
    end.setCustomValidity(isBackward ? 'End must be after start.' : '');
    end.ariaInvalid = String(!end.checkValidity());
  }
}

function fieldsOf(item: HTMLLIElement): BarFields {
  return {
    item,
    text: find(item, '[data-text]', HTMLTextAreaElement),
    position: find(item, '[data-position]', HTMLInputElement),
    start: find(item, '[data-start]', HTMLInputElement),
    end: find(item, '[data-end]', HTMLInputElement),
  };
}

function fill({ text, position, start, end }: BarFields, bar: DraftBar | undefined): void {
  const shown = (value: number | undefined): string => (value === undefined ? '' : String(value));
  // Setting the same text would move the cursor to its end.
  if (text.value !== (bar?.text ?? '')) text.value = bar?.text ?? '';
  position.value = shown(bar?.position);
  start.value = shown(bar?.start);
  end.value = shown(bar?.end);
}
