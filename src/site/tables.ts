// Tables. On narrow screens, CSS shows each row as a card whose lines carry the name of their column. The roles keep
// the rows and cells for screen readers, which the changed display would otherwise remove.

import { type Content, type Html, html } from './html.ts';

export function table(caption: string, columns: readonly string[], rows: readonly (readonly Content[])[]): Html {
  return tableOf(
    caption,
    columns.map((column) => ({ label: column, content: column })),
    rows.map((cells) => ({ cells })),
  );
}

export interface TableColumn {
  /** The name as plain text, for the cards. Empty if the column has no name. */
  readonly label: string;
  readonly content: Content;
}

export interface TableRow {
  readonly id?: string | undefined;
  readonly cells: readonly Content[];
}

export function tableOf(caption: string, columns: readonly TableColumn[], rows: readonly TableRow[]): Html {
  const hasHead = columns.some(({ label }) => label !== '');
  const head = html`<thead role="rowgroup"><tr role="row">${columns.map(headCell)}</tr></thead>`;
  return html`<div class="table" tabindex="0" role="group" aria-label="${caption}"><table role="table">
<caption class="visually-hidden">${caption}</caption>
${hasHead && head}
<tbody role="rowgroup">${rows.map((row) => bodyRow(row, columns))}</tbody>
</table></div>`;
}

function headCell({ label, content }: TableColumn): Html {
  return label === '' ? html`<td role="cell"></td>` : html`<th scope="col" role="columnheader">${content}</th>`;
}

function bodyRow({ id, cells }: TableRow, columns: readonly TableColumn[]): Html {
  const cell = (content: Content, index: number): Html => {
    const label = columns[index]?.label ?? '';
    // Each cell contains one element, because a card lays out label and content in two columns.
    return html`<td role="cell"${label !== '' && html` data-label="${label}"`}>${content !== '' && html`<span>${content}</span>`}</td>`;
  };
  return html`<tr role="row"${id !== undefined && html` id="${id}"`}>${cells.map(cell)}</tr>\n`;
}

/**
 * A column of a list, and its place where the list is too narrow for a table: there, an entry has two lines, `lead` and `end` in the
 * first, `below` and `below-end` in the second, and `across` fills a third. Columns without a place are left out there; the page of the entry has them.
 */
export interface ListColumn {
  readonly label: string;
  readonly place?: 'lead' | 'end' | 'below' | 'below-end' | 'across';
  /** Text of any length, which is cut where it has no room. `title` shows all of it. */
  readonly isName?: true;
  /** A sentence or two, which wraps. For lists whose entries have no page of their own. */
  readonly isText?: true;
  readonly isNumber?: true;
}

export interface ListEntry {
  /** The page of the entry, which a click anywhere on it opens. The first cell becomes the link. */
  readonly href?: string;
  readonly cells: readonly Content[];
}

/** A list of things that have a page of their own: requests, renders, keys, members, deliveries. */
export function entryList(caption: string, columns: readonly ListColumn[], entries: readonly ListEntry[]): Html {
  const head = columns.map(
    (column) =>
      html`<th scope="col" role="columnheader"${classOf(column)}>${column.label === '' ? html`<span class="visually-hidden">Actions</span>` : column.label}</th>`,
  );
  return html`<div class="entries"><table role="table">
<caption class="visually-hidden">${caption}</caption>
<thead role="rowgroup"><tr role="row">${head}</tr></thead>
<tbody role="rowgroup">${entries.map((entry) => entryRow(entry, columns))}</tbody>
</table></div>`;
}

function entryRow({ href, cells }: ListEntry, columns: readonly ListColumn[]): Html {
  const cell = (content: Content, index: number): Html => {
    const column = columns[index] ?? { label: '' };
    const title = column.isName && typeof content === 'string' && html` title="${content}"`;
    const isLink = index === 0 && href !== undefined;
    return html`<td role="cell"${classOf(column)}><span${title}>${isLink ? html`<a class="entry-link" href="${href}">${content}</a>` : content}</span></td>`;
  };
  return html`<tr role="row">${cells.map(cell)}</tr>\n`;
}

function classOf({ place, isName, isText, isNumber }: ListColumn): Html | undefined {
  const names = [place ?? 'wide-only', isName && 'cut', isText && 'text', isNumber && 'number'].filter(Boolean);
  return html` class="${names.join(' ')}"`;
}
