// Search over all documentation pages. The index is one file, loaded when the field gets the focus for the first time.

import { find } from './elements.ts';

interface Section {
  readonly path: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

const MAX_RESULTS = 8;
const EXCERPT = 90;

const input = find(document, '[data-search]', HTMLInputElement);
const list = find(document, '[data-search-results]', HTMLElement);
const status = find(document, '[data-search-status]', HTMLElement);
let index: Promise<Section[]> | undefined;

async function load(): Promise<Section[]> {
  const response = await fetch(input.dataset['search'] ?? '');
  if (!response.ok) throw new Error(`The search index returned ${response.status}.`);
  return (await response.json()) as Section[];
}

/** Every word must occur. A word in the title counts most. */
function score({ page, title, text }: Section, words: readonly string[]): number {
  const [name, heading, body] = [page.toLowerCase(), title.toLowerCase(), text.toLowerCase()];
  let sum = 0;
  for (const word of words) {
    const points = (heading.includes(word) ? 8 : 0) + (name.includes(word) ? 3 : 0) + (body.includes(word) ? 1 : 0);
    if (points === 0) return 0;
    sum += points;
  }
  return sum;
}

function excerpt(text: string, word: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - EXCERPT / 3);
  return `${at > 0 ? '…' : ''}${text.slice(at, at + EXCERPT)}…`;
}

async function search(): Promise<void> {
  const words = input.value.toLowerCase().split(/\s+/u).filter(Boolean);
  index ??= load();
  const sections = await index;
  const found = sections
    .map((section) => ({ section, points: score(section, words) }))
    .filter(({ points }) => words.length > 0 && points > 0)
    .toSorted((a, b) => b.points - a.points)
    .slice(0, MAX_RESULTS);
  list.replaceChildren(...found.map(({ section }) => resultItem(section, words[0] ?? '')));
  list.hidden = found.length === 0;
  status.textContent = words.length === 0 ? '' : `${found.length} results`;
}

function resultItem({ path, page, title, text }: Section, word: string): HTMLElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  const detail = document.createElement('span');
  link.href = path;
  link.textContent = title === page ? page : `${page}: ${title}`;
  detail.className = 'small';
  detail.textContent = excerpt(text, word);
  link.append(detail);
  item.append(link);
  return item;
}

function fail(): void {
  index = undefined;
  status.textContent = "Search isn't available right now.";
}

input.disabled = false;
input.addEventListener('input', () => void search().catch(fail));
input.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  input.value = '';
  list.hidden = true;
});
document.addEventListener('keydown', (event) => {
  // The radio buttons of the language tabs are inputs too, but take no text.
  const isTyping = event.target instanceof Element && event.target.matches('input:not([type=radio]), textarea, select');
  if (event.key !== '/' || isTyping) return;
  event.preventDefault();
  input.focus();
});
