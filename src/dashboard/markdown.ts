// Renders the subset of Markdown that our guides use: a title in the first line, then headings, paragraphs, lists, tables
// and fenced code. All text is escaped, even though we write the guides ourselves.

import { must } from '../primitives/must.ts';
import { type Content, Html, html } from './html.ts';
import { inline } from './markdown-line.ts';
import { codeBlock } from './snippet-tabs.ts';
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
}

/** Marks the place of the form that sends a request. Other comments don't appear on pages. */
export const TRY_IT_MARK = '<!-- try-it -->';

type Block = (reader: Reader, line: string) => string | undefined;

/** Parsers for each kind of block, tried in this order. The last one accepts any line. */
const BLOCKS: readonly Block[] = [comment, heading, fence, table, list, paragraph];

export function renderMarkdown(source: string): Article {
  const [first = '', ...lines] = source.split('\n');
  const title = first.replace(/^# /u, '');
  const reader: Reader = { lines, at: 0, ids: new Set(), headings: [] };
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
export function headingWithLink(level: number, id: string, content: Content): Html {
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

function fence(reader: Reader, line: string): string | undefined {
  if (!line.startsWith('```')) return undefined;
  reader.at += 1;
  const code = takeWhile(reader, (inside) => !inside.startsWith('```'));
  reader.at += 1;
  return codeBlock(code.join('\n'), 'Code', line.slice(3).trim()).text;
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

function cellContent(cell: string): Content {
  return cell === '' ? '' : new Html(inline(cell));
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
