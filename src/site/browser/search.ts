// Search over all documentation pages. The index is one file, loaded when the field gets the focus for the first time.

import { find } from './elements.ts';
import { type SearchAnswer, type SearchSection, searchOver, stemOf } from './search-ranking.ts';

const EXCERPT = 140;

const input = find(document, '[data-search]', HTMLInputElement);
const panel = find(document, '[data-search-panel]', HTMLElement);
const list = find(document, '[data-search-results]', HTMLElement);
const hint = find(document, '[data-search-hint]', HTMLElement);
const status = find(document, '[data-search-status]', HTMLElement);
let index: Promise<(query: string) => SearchAnswer> | undefined;

async function load(): Promise<(query: string) => SearchAnswer> {
  const response = await fetch(input.dataset['search'] ?? '');
  if (!response.ok) throw new Error(`The search index returned ${response.status}.`);
  return searchOver((await response.json()) as SearchSection[]);
}

async function search(): Promise<void> {
  index ??= load();
  const findIn = await index;
  const query = input.value;
  panel.hidden = query.trim() === '';
  if (panel.hidden) {
    status.textContent = '';
    return;
  }
  const { results, corrected, words } = findIn(query);
  list.replaceChildren(...results.map((section) => resultItem(section, words)));
  hint.hidden = results.length > 0;
  const count = results.length === 1 ? '1 result' : `${results.length} results`;
  status.textContent = corrected === undefined ? count : `${count} for “${corrected}”`;
}

function resultItem({ path, page, title, text }: SearchSection, words: readonly string[]): HTMLElement {
  const item = document.createElement('li');
  const anchor = document.createElement('a');
  anchor.href = path;
  anchor.textContent = title === page ? page : `${page}: ${title}`;
  const detail = document.createElement('span');
  detail.className = 'small';
  detail.append(...excerpt(text, words));
  anchor.append(detail);
  item.append(anchor);
  return item;
}

/** The part of the text around the first of the words, with all of them marked. */
function excerpt(text: string, words: readonly string[]): (Node | string)[] {
  const stems = words.map(stemOf).filter((stem) => stem.length > 1);
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${stems.join('|') || '$^'})[\\p{L}\\p{N}]*`, 'giu');
  const first = text.search(pattern);
  const from = Math.max(0, first - EXCERPT / 3);
  const start = from === 0 ? 0 : text.indexOf(' ', from) + 1;
  const part = text.slice(start, start + EXCERPT);
  const pieces: (Node | string)[] = [start > 0 ? '…' : ''];
  let end = 0;
  for (const match of part.matchAll(pattern)) {
    const mark = document.createElement('mark');
    mark.textContent = match[0];
    pieces.push(part.slice(end, match.index), mark);
    end = match.index + match[0].length;
  }
  return [...pieces, part.slice(end), start + EXCERPT < text.length ? '…' : ''];
}

function fail(): void {
  index = undefined;
  status.textContent = "Search isn't available right now.";
}

function close(): void {
  input.value = '';
  panel.hidden = true;
  status.textContent = '';
}

input.disabled = false;
input.addEventListener('focus', () => {
  index ??= load();
  index.catch(fail);
});
input.addEventListener('input', () => void search().catch(fail));
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !panel.hidden) {
    close();
    input.focus();
    return;
  }
  // The radio buttons of the language tabs are inputs too, but take no text.
  const isTyping = event.target instanceof Element && event.target.matches('input:not([type=radio]), textarea, select');
  if (event.key !== '/' || isTyping) return;
  event.preventDefault();
  input.focus();
});
// Arrow keys move between the field and its results, and Enter opens the first of them, as in other searches.
find(document, '[role=search]', HTMLElement).addEventListener('keydown', (event) => {
  const stops: HTMLElement[] = [input, ...list.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  if (at === -1 || panel.hidden) return;
  if (event.key === 'Enter' && at === 0) stops[1]?.click();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)]?.focus();
});
// A section of this page is a place on it, which the panel would cover.
list.addEventListener('click', (event) => {
  if (event.target instanceof Element && event.target.closest('a') !== null) panel.hidden = true;
});
