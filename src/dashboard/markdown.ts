// The part of Markdown that our guides use, to HTML: a title in the first line, then headings, paragraphs, lists, tables
// and fenced code. Guides are ours, but everything is escaped all the same.

import { escape, Html } from './html.ts';
import { inline } from './markdown-line.ts';
import { codeBlock } from './snippet-tabs.ts';

export interface Article {
  readonly title: string;
  /** The first paragraph, as plain text. */
  readonly summary: string;
  readonly body: Html;
}

/** A file of lines, read from the top. */
interface Reader {
  readonly lines: readonly string[];
  at: number;
  readonly ids: Set<string>;
}

type Block = (reader: Reader, line: string) => string | undefined;

/** Tried in this order; a block that is none of the others is a paragraph. */
const BLOCKS: readonly Block[] = [comment, heading, fence, table, list, paragraph];

export function renderMarkdown(source: string): Article {
  const [first = '', ...lines] = source.split('\n');
  const title = first.replace(/^# /u, '');
  const reader: Reader = { lines, at: 0, ids: new Set() };
  const blocks: string[] = [];
  let summary = '';
  while (reader.at < reader.lines.length) {
    const line = reader.lines[reader.at] ?? '';
    if (line.trim() === '') {
      reader.at += 1;
      continue;
    }
    const block = firstOf(BLOCKS, reader, line);
    if (summary === '' && block.startsWith('<p>')) summary = plain(block);
    blocks.push(block);
  }
  return { title, summary, body: new Html(blocks.join('\n')) };
}

function firstOf(blocks: readonly Block[], reader: Reader, line: string): string {
  for (const block of blocks) {
    const done = block(reader, line);
    if (done !== undefined) return done;
  }
  throw new Error(`no block takes ${JSON.stringify(line)}`);
}

/** Takes lines as long as they fit. */
function takeWhile(reader: Reader, fits: (line: string) => boolean): string[] {
  const taken: string[] = [];
  for (; reader.at < reader.lines.length; reader.at += 1) {
    const line = reader.lines[reader.at] ?? '';
    if (!fits(line)) break;
    taken.push(line);
  }
  return taken;
}

function comment(reader: Reader, line: string): string | undefined {
  if (!line.startsWith('<!--')) return undefined;
  reader.at += 1;
  return '';
}

function heading(reader: Reader, line: string): string | undefined {
  const match = /^(?<marks>#{2,4}) (?<text>.+)$/u.exec(line);
  if (match?.groups === undefined) return undefined;
  const { marks = '', text = '' } = match.groups;
  reader.at += 1;
  return `<h${marks.length}${idFor(reader, text)}>${inline(text)}</h${marks.length}>`;
}

/** The first to ask for a name gets it: ids are unique in a page. */
function idFor(reader: Reader, text: string): string {
  const id = text
    .toLowerCase()
    .replaceAll(/[^\w\s-]/gu, '')
    .trim()
    .replaceAll(/\s+/gu, '-');
  if (id === '' || reader.ids.has(id)) return '';
  reader.ids.add(id);
  return ` id="${escape(id)}"`;
}

function fence(reader: Reader, line: string): string | undefined {
  if (!line.startsWith('```')) return undefined;
  reader.at += 1;
  const code = takeWhile(reader, (inside) => !inside.startsWith('```'));
  reader.at += 1;
  return codeBlock(code.join('\n'), 'Code').text;
}

function table(reader: Reader, line: string): string | undefined {
  if (!line.startsWith('|')) return undefined;
  const [head = [], , ...rows] = takeWhile(reader, (row) => row.startsWith('|')).map(cellsOf);
  const headRow = head.map((cell) => (cell === '' ? '<td></td>' : `<th scope="col">${inline(cell)}</th>`)).join('');
  const body = rows.map((cells) => tableRow(reader, cells)).join('\n');
  // A head without words is for Markdown's sake alone.
  const shownHead = head.some((cell) => cell !== '') ? `<thead><tr>${headRow}</tr></thead>` : '';
  return `<div class="table" tabindex="0" role="group" aria-label="Table"><table>${shownHead}<tbody>${body}</tbody></table></div>`;
}

/** A row about one code, field or header can be linked to by its name. */
function tableRow(reader: Reader, cells: readonly string[]): string {
  const name = cells.map((cell) => /^`(?<name>[a-z][\w-]*)`$/u.exec(cell)?.groups?.['name']).find(Boolean);
  const id = name === undefined ? '' : idFor(reader, name);
  return `<tr${id}>${cells.map((cell) => `<td>${inline(cell)}</td>`).join('')}</tr>`;
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
  // An item goes on in lines that are indented.
  for (const entry of takeWhile(reader, (next) => mark.test(next) || /^ +\S/u.test(next))) {
    if (mark.test(entry)) items.push(entry.replace(mark, ''));
    else items.push(`${items.pop() ?? ''} ${entry.trim()}`);
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
