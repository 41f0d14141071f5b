// The fields of the page that have a name: their values are those of the draft, and each shows where it applies.

import { DEFAULT_PAD_COLOR } from '../../../engine/caption/fit.ts';
import { HIGHLIGHT_COLORS, takesHighlightColor } from '../../../engine/caption/style.ts';
import type { PriceRules } from './payer.ts';
import { find } from '../elements.ts';
import { FIELD_NAMES } from './draft.ts';
import { type Editor, setField } from './editor.ts';
import { logoOf, takesColorSpace, takesMaxBytes } from './request.ts';
import {
  captionsOf,
  draftOf,
  formatOf,
  formatsOf,
  formatTitle,
  isFitted,
  marginsOf,
  presetFor,
  secondsOf,
  sourceOf,
  type State,
  targetOf,
} from './state.ts';

/** The color that the disabled field shows. */
const NO_BACKGROUND = '#000000';

type Field = HTMLInputElement | HTMLSelectElement;

/** When the parts of the page with `data-when` are shown. */
const SHOWN: Readonly<Record<string, (state: State) => boolean>> = {
  timed: (state) => secondsOf(state) !== undefined,
  fitted: isFitted,
  padded: (state) => isFitted(state) && draftOf(state).fields['fit'] === 'pad',
  custom: (state) => draftOf(state).fields['shape'] === 'custom',
  clip: (state) => sourceOf(state) === 'clip',
  'color-space': takesColorSpace,
  'max-bytes': takesMaxBytes,
  account: ({ account }) => account !== undefined,
  logos: ({ account }) => account !== undefined && account.logos.length > 0,
  logo: (state) => logoOf(state) !== undefined,
  'highlight-color': (state) => captionsOf(state) !== undefined && takesHighlightColor(highlightIn(state)),
  'highlight-box': (state) => captionsOf(state) !== undefined && highlightIn(state) === 'box',
};

function highlightIn(state: State): string {
  return draftOf(state).fields['highlight'] ?? '';
}

/** What a field without a value shows. */
function defaultOf(name: string, state: State): string {
  const preset = presetFor(state);
  switch (name) {
    // A color input has no transparency.
    case 'color':
      return preset.color.slice(0, '#rrggbb'.length);
    case 'background':
      return (preset.background ?? NO_BACKGROUND).slice(0, '#rrggbb'.length);
    case 'highlight_color':
      return highlightIn(state) === 'box' ? HIGHLIGHT_COLORS.boxText : HIGHLIGHT_COLORS.color;
    case 'highlight_background':
      return HIGHLIGHT_COLORS.boxBackground;
    case 'fit_color':
      return DEFAULT_PAD_COLOR;
    default:
      return '';
  }
}

export function fieldViews(store: Editor, root: HTMLElement, terms: PriceRules): void {
  root.addEventListener('input', ({ target }) => {
    if (!isField(target)) return;
    const isOff = target.type === 'checkbox' && !target.checked;
    setField(store, target.name, isOff ? '' : target.value);
  });
  store.watch(['account'], (state) => {
    drawSavedStyles(root, state);
    const options = (state.account?.logos ?? []).map(({ id, label }) => new Option(label, id));
    find(root, '[name="logo"]', HTMLSelectElement).replaceChildren(new Option('none', ''), ...options);
  });
  store.watch(['history', 'media', 'account'], (state) => {
    drawFormats(find(root, '[name="format"]', HTMLSelectElement), state);
    const isMissing = !hasOption(root, 'shape', state) || !hasOption(root, 'preset', state);
    for (const field of root.querySelectorAll<Field>('[name]')) if (isField(field)) drawField(field, state);
    // A link may name a style or a shape that isn't here.
    if (isMissing) for (const name of ['shape', 'preset']) checkFirst(root, name);
    for (const part of root.querySelectorAll<HTMLElement>('[data-when]')) {
      part.hidden = SHOWN[part.dataset['when'] ?? '']?.(state) !== true;
    }
    const { size = 1, background } = presetFor(state);
    find(root, '[name="size"]', HTMLInputElement).placeholder = String(size);
    find(root, '[name="background"]', HTMLInputElement).disabled = background === undefined;
    find(root, '[name="highlight"]', HTMLSelectElement).disabled = captionsOf(state) === undefined;
    for (const side of ['width', 'height'] as const) {
      find(root, `[name="${side}"]`, HTMLInputElement).placeholder = String(targetOf(state)?.[side] ?? '');
    }
    find(root, '[name="duration"]', HTMLInputElement).placeholder = secondsOf(state)?.toFixed(1) ?? '';
    drawSafeArea(find(root, '[data-safe-guide]', HTMLElement), state);
    find(root, '[data-size-note]', HTMLElement).textContent = sizeNote(state, terms);
  });
}

function isField(target: EventTarget | null): target is Field {
  return (
    (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) && FIELD_NAMES.includes(target.name)
  );
}

function drawField(field: Field, state: State): void {
  const value = draftOf(state).fields[field.name] ?? '';
  if (field.type === 'radio' || field.type === 'checkbox') {
    field.checked = field.type === 'radio' ? field.value === value : value !== '';
    return;
  }
  if (field.name === 'format') return;
  const isColor = field.type === 'color';
  // A link may contain anything.
  const shown = isColor && !/^#[\da-f]{6}$/iu.test(value) ? defaultOf(field.name, state) : value;
  if (field.value !== shown) field.value = shown;
  // A select rejects a name that isn't among its options.
  if (field instanceof HTMLSelectElement && field.selectedIndex === -1) field.value = '';
}

function hasOption(root: HTMLElement, name: string, state: State): boolean {
  const value = draftOf(state).fields[name] ?? '';
  return root.querySelector(`[name="${name}"][value="${CSS.escape(value)}"]`) !== null;
}

function checkFirst(root: HTMLElement, name: string): void {
  if (root.querySelector(`[name="${name}"]:checked`) === null) {
    find(root, `[name="${name}"][value=""]`, HTMLInputElement).checked = true;
  }
}

function drawFormats(select: HTMLSelectElement, state: State): void {
  const titles = formatsOf(state).map((format) => [format, formatTitle(format, state)] as const);
  const shown = [...select.options].map(({ text }) => text);
  if (titles.map(([, title]) => title).join() !== shown.join()) {
    select.replaceChildren(...titles.map(([format, title]) => new Option(title, format)));
  }
  select.value = formatOf(state);
}

/** The styles that the account saved, beside the presets. */
function drawSavedStyles(root: HTMLElement, { account, history }: State): void {
  const list = find(root, '[data-saved-styles]', HTMLElement);
  const template = find(root, '[data-saved-style]', HTMLTemplateElement);
  list.replaceChildren(
    ...(account?.styles ?? []).map(({ name, style: { preset = 'bar', color, background } }) => {
      const item = find(template.content.cloneNode(true) as DocumentFragment, 'label', HTMLLabelElement);
      const input = find(item, 'input', HTMLInputElement);
      const sample = find(item, '.preset-sample', HTMLElement);
      input.value = name;
      input.checked = draftOf({ history }).fields['preset'] === name;
      sample.classList.add(`preset-${preset}`);
      if (color !== undefined) sample.style.color = color;
      if (background !== undefined) sample.style.setProperty('--sample', background);
      find(item, '[data-name]', HTMLElement).textContent = name;
      return item;
    }),
  );
}

function drawSafeArea(guide: HTMLElement, state: State): void {
  const size = targetOf(state);
  if (size === undefined) return;
  const { top, bottom, left, right } = marginsOf(state, size);
  const percent = (pixels: number, of: number): string => `${(100 * pixels) / of}%`;
  guide.hidden = top + bottom + left + right === 0;
  guide.style.inset = [
    percent(top, size.height),
    percent(right, size.width),
    percent(bottom, size.height),
    percent(left, size.width),
  ].join(' ');
}

/** The size of the finished file, where it isn't that of the file. */
function sizeNote(state: State, { maxSide }: PriceRules): string {
  const size = targetOf(state);
  if (size === undefined || draftOf(state).fields['shape'] === undefined) return '';
  const isReduced = state.account === undefined && state.key === '' && Math.max(size.width, size.height) > maxSide;
  return `${size.width} × ${size.height} pixels${isReduced ? `, or ${maxSide} on the longer side without a key` : ''}`;
}
