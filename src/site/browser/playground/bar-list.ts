// The list of caption, position and time fields.

import { countGraphemes } from '../../../engine/caption/graphemes.ts';
import { defaultPosition, MAX_OVERLAYS, MAX_TEXT_GRAPHEMES } from '../../../engine/caption/overlay.ts';
import { find } from '../elements.ts';
import type { DraftBar } from './draft.ts';
import { addBar, change, type Editor, setText } from './editor.ts';
import { withBar, withCopy, withMovedBar, withoutBar } from './edits.ts';
import { captionsOf, draftOf, secondsOf, type State } from './state.ts';

const NUMBERS = ['position', 'start', 'end'] as const;

export function barList(store: Editor, root: HTMLElement): void {
  const list = find(root, '[data-bars]', HTMLOListElement);
  const add = find(root, '[data-add]', HTMLButtonElement);
  const focus = (id: string | undefined): void => {
    if (id !== undefined) list.querySelector<HTMLElement>(`#${id} [data-text]`)?.focus();
  };
  add.addEventListener('click', () => focus(addBar(store)));
  list.addEventListener('input', ({ target }) => {
    const id = target instanceof Element ? (target.closest('li')?.id ?? '') : '';
    if (target instanceof HTMLTextAreaElement) setText(store, id, target.value);
    if (!(target instanceof HTMLInputElement)) return;
    const name = NUMBERS.find((one) => target.matches(`[data-${one}]`));
    if (name) change(store, withBar(draftOf(store.state), id, { [name]: numberIn(target) }), { key: `${name} ${id}` });
  });
  list.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('button') : null;
    const item = button?.closest('li');
    if (button && item) press(button, item);
  });

  function press(button: HTMLButtonElement, item: HTMLLIElement): void {
    const draft = draftOf(store.state);
    if (button.matches('[data-duplicate]')) {
      change(store, withCopy(draft, item.id));
      focus(item.nextElementSibling?.id);
    } else if (button.matches('[data-remove]')) {
      const next = item.nextElementSibling ?? item.previousElementSibling;
      change(store, withoutBar(draft, item.id));
      // Otherwise focus would jump to the top of the page.
      if (next === null) add.focus();
      else focus(next.id);
    } else {
      change(store, withMovedBar(draft, item.id, button.matches('[data-up]') ? -1 : 1));
      if (button.disabled) focus(item.id);
      else button.focus();
    }
  }

  store.watch(['history', 'media', 'overlay'], (state) => {
    const { bars } = draftOf(state);
    const items = new Map([...list.children].map((item) => [item.id, item]));
    bars.forEach((bar, index) => {
      const item = items.get(bar.id) ?? newItem(root, bar.id);
      items.delete(bar.id);
      if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null);
      drawItem(item as HTMLLIElement, bar, state);
    });
    for (const item of items.values()) item.remove();
    add.disabled = bars.length >= MAX_OVERLAYS;
    find(root, '[data-no-captions]', HTMLElement).hidden = bars.length > 0;
    // Subtitles replace the captions.
    const isReplaced = captionsOf(state) !== undefined;
    find(root, '[data-replaced]', HTMLElement).hidden = !isReplaced;
    find(root, '[data-own-captions]', HTMLElement).hidden = isReplaced;
  });
}

function newItem(root: HTMLElement, id: string): HTMLLIElement {
  const { content } = find(root, '[data-bar]', HTMLTemplateElement);
  const item = find(content.cloneNode(true) as DocumentFragment, 'li', HTMLLIElement);
  item.id = id;
  return item;
}

/** Returns undefined for an empty field. */
function numberIn({ value }: HTMLInputElement): number | undefined {
  const number = value.trim() === '' ? Number.NaN : Number(value);
  return Number.isNaN(number) ? undefined : number;
}

function drawItem(item: HTMLLIElement, bar: DraftBar, state: State): void {
  const { bars } = draftOf(state);
  const isTimed = secondsOf(state) !== undefined;
  const index = bars.indexOf(bar);
  const number = index + 1;
  const text = find(item, '[data-text]', HTMLTextAreaElement);
  // Setting the same text would move the cursor to its end.
  if (text.value !== bar.text) text.value = bar.text;
  const label = find(item, '[data-text-label]', HTMLLabelElement);
  label.textContent = `Caption ${number}`;
  text.id = `caption-${number}`;
  label.htmlFor = text.id;
  find(item, '[data-times]', HTMLElement).hidden = !isTimed;
  const [position, start, end] = NUMBERS.map((name) => {
    const field = find(item, `[data-${name}]`, HTMLInputElement);
    if (numberIn(field) !== bar[name]) field.value = bar[name] === undefined ? '' : String(bar[name]);
    return field;
  }) as [HTMLInputElement, HTMLInputElement, HTMLInputElement];
  position.setAttribute('aria-label', `Position of caption ${number}`);
  start.setAttribute('aria-label', `Start of caption ${number} in seconds`);
  end.setAttribute('aria-label', `End of caption ${number} in seconds`);
  position.placeholder = placeholderOf(bar, state);
  const nameButton = (selector: string, name: string, isDisabled = false): void => {
    const button = find(item, selector, HTMLButtonElement);
    button.setAttribute('aria-label', name);
    button.title = name;
    button.disabled = isDisabled;
  };
  nameButton('[data-up]', `Move caption ${number} up`, index === 0);
  nameButton('[data-down]', `Move caption ${number} down`, number === bars.length);
  nameButton('[data-duplicate]', `Duplicate caption ${number}`, bars.length >= MAX_OVERLAYS);
  nameButton('[data-remove]', `Remove caption ${number}`);
  check(item, { text, position, start, end }, { number, isTimed });
}

/** The place of a bar without a position: where the service has put it, or will by default. */
function placeholderOf({ id, text }: DraftBar, state: State): string {
  const filled = draftOf(state).bars.filter((bar) => bar.text.trim() !== '');
  if (text.trim() === '') return '';
  const { overlay } = state;
  const row = overlay?.rows[overlay.bars.findIndex((bar) => bar.id === id)];
  if (overlay === undefined || row === undefined)
    return String(defaultPosition(filled.findIndex((bar) => bar.id === id)));
  return String(Math.round(((row.top + row.height / 2) / overlay.size.height) * 100));
}

type BarFields = Readonly<Record<'position' | 'start' | 'end', HTMLInputElement>> & {
  readonly text: HTMLTextAreaElement;
};

/** Marks values that the service would refuse. */
function check(
  item: HTMLLIElement,
  { text, position, start, end }: BarFields,
  { number, isTimed }: { readonly number: number; readonly isTimed: boolean },
): void {
  const count = find(item, '[data-count]', HTMLElement);
  const length = countGraphemes(text.value.trim());
  const isTooLong = length > MAX_TEXT_GRAPHEMES;
  count.id = `count-${number}`;
  count.textContent = `${length} / ${MAX_TEXT_GRAPHEMES}`;
  count.classList.toggle('over', isTooLong);
  text.setAttribute('aria-describedby', count.id);
  text.ariaInvalid = String(isTooLong);
  // The browser then reports this at the field instead of sending the form.
  text.setCustomValidity(isTooLong ? `Captions can have up to ${MAX_TEXT_GRAPHEMES} characters.` : '');
  const isBackward = isTimed && end.value !== '' && Number(end.value) <= Number(start.value);
  end.setCustomValidity(isBackward ? 'End must be after start.' : '');
  for (const field of [position, start, end]) field.ariaInvalid = String(!field.checkValidity());
}
