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
