// Subtitles or a transcript of a video: a text field that a file can fill, the pages that the service makes of it, and the words
// of the current page, which can be changed one by one.

import { find } from '../elements.ts';
import { previewSize } from '../preview.ts';
import { fetchPages, withWord } from './caption-pages.ts';
import { change, type Editor } from './editor.ts';
import type { PriceRules } from './payer.ts';
import { captionFields } from './request.ts';
import { captionsOf, draftOf, secondsOf, type State, targetOf } from './state.ts';

const DEBOUNCE_MS = 200;
/** What a look for spoken words replaces, besides the fields that it has. */
const LOOK_FIELDS = new Set(['color', 'background', 'size', 'highlight_color', 'highlight_background']);

/** A look for spoken words, from the page. */
type WordLook = Readonly<Record<string, string>>;

export function wordEditor(store: Editor, root: HTMLElement, { maxSide }: PriceRules): void {
  const text = find(root, '[data-captions]', HTMLTextAreaElement);
  text.addEventListener('input', () =>
    change(store, { ...draftOf(store.state), captions: text.value }, { key: 'captions' }),
  );
  for (const button of root.querySelectorAll<HTMLElement>('[data-word-look]')) {
    button.addEventListener('click', () => {
      const draft = draftOf(store.state);
      const kept = Object.entries(draft.fields).filter(([name]) => !LOOK_FIELDS.has(name));
      const look = JSON.parse(button.dataset['wordLook'] ?? '{}') as WordLook;
      change(store, { ...draft, fields: { ...Object.fromEntries(kept), ...look } });
    });
  }
  store.watch(['history', 'media'], (state) => {
    const { captions } = draftOf(state);
    if (text.value !== captions) text.value = captions;
    if (captions !== '') find(root, 'details', HTMLDetailsElement).open = true;
  });
  askForPages(store, maxSide);
  const words = find(root, '[data-words]', HTMLElement);
  store.watch(['pages', 'time', 'history', 'media'], (state) => drawWords(store, words, state));
}

/** Pages depend on the size and the look, but not on the frame. */
function askForPages(store: Editor, maxSide: number): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let requested = '';
  store.watch(['history', 'media', 'account'], (state) => {
    const captions = captionsOf(state);
    const size = targetOf(state);
    if (captions === undefined || size === undefined) {
      requested = '';
      if (state.pages) store.update({ pages: undefined });
      return;
    }
    const { width, height } = previewSize(size, maxSide);
    const sides = { width: String(width), height: String(height), duration: String(secondsOf(state)) };
    const fields = { ...sides, captions, ...captionFields(state) };
    const request = JSON.stringify(fields);
    if (request === requested) return;
    requested = request;
    clearTimeout(timer);
    timer = setTimeout(() => {
      void fetchPages(fields, state.account?.token).then((pages) => {
        if (request !== requested) return;
        if (pages === undefined) requested = '';
        store.update({ pages: { request, pages: pages ?? [] } });
      });
    }, DEBOUNCE_MS);
  });
}

/** Shows the words of the page at the current time, or of the next one. */
function drawWords(store: Editor, root: HTMLElement, { pages, time }: State): void {
  const shown = pages?.pages ?? [];
  const found = shown.findIndex(({ end }) => end > time);
  const index = found === -1 ? shown.length - 1 : found;
  const page = shown[index];
  const key = page === undefined ? '' : JSON.stringify([index, page]);
  root.hidden = page === undefined;
  if (root.dataset['shown'] !== key) {
    root.dataset['shown'] = key;
    const fields = (page?.words ?? []).map((word, at) => {
      const field = document.createElement('input');
      Object.assign(field, {
        type: 'text',
        value: word.text,
        size: Math.max(2, word.text.length),
        autocomplete: 'off',
      });
      field.setAttribute('aria-label', `Word ${at + 1} of page ${index + 1}`);
      field.addEventListener('change', () => replaceWord(store, index, at, field.value.trim()));
      return field;
    });
    find(root, '[data-word-fields]', HTMLElement).replaceChildren(...fields);
    find(root, '[data-page-number]', HTMLElement).textContent = `Page ${index + 1} of ${shown.length}`;
  }
  for (const [at, field] of [...root.querySelectorAll('input')].entries()) {
    const { start = 0, end = 0 } = page?.words[at] ?? {};
    field.classList.toggle('spoken', start <= time && time < end);
  }
}

/** The pages become cues, which keep their words together. */
function replaceWord(store: Editor, page: number, word: number, text: string): void {
  const { pages } = store.state;
  if (pages === undefined) return;
  const draft = draftOf(store.state);
  const { max_words: _words, max_lines: _lines, ...fields } = draft.fields;
  change(store, { ...draft, fields, captions: withWord(pages.pages, page, word, text) });
}
