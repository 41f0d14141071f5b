// Renders the subset of Markdown that our guides use: a title in the first line, then headings, paragraphs, lists, tables
// and fenced code. All text is escaped, even though we write the guides ourselves.

import { must } from '../shared/must.ts';
import { type Content, Html, html } from './html.ts';
import { inline } from './markdown-line.ts';
import { codeBlock, snippetTabs } from './snippet-tabs.ts';
import { tableOf } from './tables.ts';

export interface Article {
  readonly title: string;
  /** The first paragraph, as plain text. */
  readonly summary: string;
  readonly body: Html;
  /** The headings with an id, for the table of contents. */
  readonly headings: readonly Heading[];
}

export interface Heading {
  readonly id: string;
  readonly text: string;
  readonly level: number;
}

/** The lines of a file and the current position in it. */
interface Reader {
  readonly lines: readonly string[];
  at: number;
  readonly ids: Set<string>;
  readonly headings: Heading[];
  /** The ids of the groups of tabs. */
  readonly tabs: Set<string>;
}

/** Marks the place of the form that sends a request. Other comments don't appear on pages. */
export const TRY_IT_MARK = '<!-- try-it -->';

type Block = (reader: Reader, line: string) => string | undefined;

/** Parsers for each kind of block, tried in this order. The last one accepts any line. */
const BLOCKS: readonly Block[] = [comment, heading, fence, table, list, paragraph];

export function renderMarkdown(source: string): Article {
  const [first = '', ...lines] = source.split('\n');
  const title = first.replace(/^# /u, '');
  const reader: Reader = { lines, at: 0, ids: new Set(), headings: [], tabs: new Set() };
  const blocks: string[] = [];
  let summary = '';
  while (reader.at < reader.lines.length) {
    const line = must(reader.lines[reader.at], 'line');
    if (line.trim() === '') {
      reader.at += 1;
      continue;
    }
    const block = renderBlock(BLOCKS, reader, line);
    if (summary === '' && block.startsWith('<p>')) summary = plain(block);
    blocks.push(block);
  }
  return { title, summary, body: new Html(blocks.join('\n')), headings: reader.headings };
}

function renderBlock(blocks: readonly Block[], reader: Reader, line: string): string {
  for (const block of blocks) {
    const rendered = block(reader, line);
    if (rendered !== undefined) return rendered;
  }
  throw new Error(`unsupported Markdown: ${JSON.stringify(line)}`);
}

/** Consumes lines while `matches` returns true. */
function takeWhile(reader: Reader, matches: (line: string) => boolean): string[] {
  const taken: string[] = [];
  for (; reader.at < reader.lines.length; reader.at += 1) {
    const line = must(reader.lines[reader.at], 'line');
    if (!matches(line)) break;
    taken.push(line);
  }
  return taken;
}

function comment(reader: Reader, line: string): string | undefined {
  if (!line.startsWith('<!--')) return undefined;
  reader.at += 1;
  return line === TRY_IT_MARK ? line : '';
}

function heading(reader: Reader, line: string): string | undefined {
  const match = /^(?<marks>#{2,4}) (?<text>.+)$/u.exec(line);
  if (match?.groups === undefined) return undefined;
  const { marks = '', text = '' } = match.groups;
  reader.at += 1;
  const id = uniqueId(reader, text);
  const level = marks.length;
  if (id === undefined) return `<h${level}>${inline(text)}</h${level}>`;
  reader.headings.push({ id, text: plain(inline(text)), level });
  return headingWithLink(level, id, new Html(inline(text))).text;
}

/** The link lets readers copy the address of a section. */
function headingWithLink(level: number, id: string, content: Content): Html {
  const tag = new Html(`h${level}`);
  return html`<${tag} id="${id}">${content} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></${tag}>`;
}

/** Returns undefined if the id is taken, because ids must be unique within a page. */
function uniqueId(reader: Reader, text: string): string | undefined {
  const id = text
    .toLowerCase()
    .replaceAll(/[^\w\s-]/gu, '')
    .trim()
    .replaceAll(/\s+/gu, '-');
  if (id === '' || reader.ids.has(id)) return undefined;
  reader.ids.add(id);
  return id;
}

/** The languages that a reader can choose between, by the word after the fence. */
const TABS: Readonly<Record<string, { readonly id: string; readonly label: string }>> = {
  sh: { id: 'curl', label: 'curl' },
  ts: { id: 'typescript', label: 'TypeScript' },
  python: { id: 'python', label: 'Python' },
};

interface Fence {
  readonly language: string;
  readonly code: string;
}

/** Blocks of code that follow each other in different languages are the same thing in each of them, and become tabs. */
function fence(reader: Reader): string | undefined {
  const first = takeFence(reader);
  if (first === undefined) return undefined;
  const fences = [first];
  while (TABS[first.language] !== undefined) {
    const after = reader.at;
    takeWhile(reader, (line) => line.trim() === '');
    const next = takeFence(reader);
    if (
      next === undefined ||
      TABS[next.language] === undefined ||
      fences.some(({ language }) => language === next.language)
    ) {
      reader.at = after;
      break;
    }
    fences.push(next);
  }
  if (fences.length === 1) return codeBlock(first.code, 'Code', first.language).text;
  const { id, text } = reader.headings.at(-1) ?? { id: 'code', text: 'Code' };
  const tabs = fences.map(({ language, code }) => ({ ...must(TABS[language], 'the tab of the language'), code }));
  return snippetTabs(uniqueTabsId(reader, id), `${text}, in several languages`, tabs).text;
}

function takeFence(reader: Reader): Fence | undefined {
  const line = reader.lines[reader.at];
  if (line?.startsWith('```') !== true) return undefined;
  reader.at += 1;
  const code = takeWhile(reader, (inside) => !inside.startsWith('```'));
  reader.at += 1;
  return { language: line.slice(3).trim(), code: code.join('\n') };
}

/** A section can have several groups of tabs. */
function uniqueTabsId(reader: Reader, id: string): string {
  const names = [id, ...Array.from({ length: reader.tabs.size }, (_, index) => `${id}-${index + 2}`)];
  const free = must(
    names.find((name) => !reader.tabs.has(name)),
    'a free name',
  );
  reader.tabs.add(free);
  return free;
}

function table(reader: Reader, line: string): string | undefined {
  if (!line.startsWith('|')) return undefined;
  const [head = [], , ...rows] = takeWhile(reader, (row) => row.startsWith('|')).map(cellsOf);
  const columns = head.map((cell) => ({ label: plain(inline(cell)), content: cellContent(cell) }));
  return tableOf(
    'Table',
    columns,
    rows.map((cells) => ({ id: rowId(reader, cells), cells: cells.map(cellContent) })),
  ).text;
}

/** A row that documents a code, field or header gets an id, so it can be linked to. */
function rowId(reader: Reader, cells: readonly string[]): string | undefined {
  const name = cells.map((cell) => /^`(?<name>[a-z][\w-]*)`$/u.exec(cell)?.groups?.['name']).find(Boolean);
  return name === undefined ? undefined : uniqueId(reader, name);
}

/** A cell that is nothing but a name is as wide as the name. */
function cellContent(cell: string): Content {
  if (cell === '') return '';
  const isName = /^(?:\[)?`[^`\s]+`(?:\]\([^)]+\))?$/u.test(cell);
  return isName ? html`<span class="name">${new Html(inline(cell))}</span>` : new Html(inline(cell));
}

function cellsOf(row: string): string[] {
  return row
    .trim()
    .replaceAll(/^\||\|$/gu, '')
    .split('|')
    .map((cell) => cell.trim());
}

function list(reader: Reader, line: string): string | undefined {
  const mark = /^(?:- |\d+\. )/u;
  if (!mark.test(line)) return undefined;
  const tag = line.startsWith('- ') ? 'ul' : 'ol';
  const items: string[] = [];
  // Indented lines continue the current item.
  for (const entry of takeWhile(reader, (next) => mark.test(next) || /^ +\S/u.test(next))) {
    if (mark.test(entry)) items.push(entry.replace(mark, ''));
    else items.push(`${must(items.pop(), 'list item')} ${entry.trim()}`);
  }
  return `<${tag}>${items.map((item) => `<li>${inline(item)}</li>`).join('')}</${tag}>`;
}

function paragraph(reader: Reader): string {
  const lines = takeWhile(reader, (line) => line.trim() !== '' && !/^(?:#|```|\||- |\d+\. |<!--)/u.test(line));
  return `<p>${inline(lines.join(' '))}</p>`;
}

function plain(markup: string): string {
  const text = markup
    .replaceAll(/<[^>]+>/gu, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"');
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
