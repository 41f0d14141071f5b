// The output of commands: text for people, or JSON for programs.

import { must } from '../shared/must.ts';

/** Prints `data` if the user requested JSON, else `text`. `indent` spreads the JSON over several lines. */
export type Print = (data: unknown, text: string, indent?: number) => void;

export function printer(json: boolean): Print {
  return (data, text, indent) => {
    process.stdout.write(json ? `${JSON.stringify(data, null, indent)}\n` : text);
  };
}

type Cell = string | number | null | undefined;

/** Columns are as wide as their longest cell, and numbers are right-aligned. `none` replaces an empty table. */
export function table(headers: readonly string[], rows: readonly (readonly Cell[])[], none: string): string {
  if (rows.length === 0) return `${none}\n`;
  const lines = [headers, ...rows.map((row) => row.map(show))];
  const columns = headers.map((_, index) => ({
    width: Math.max(...lines.map((line) => must(line[index], 'a cell of the table').length)),
    isNumeric: rows.every((row) => typeof row[index] === 'number'),
  }));
  const align = (cell: string, index: number): string => {
    const { width, isNumeric } = must(columns[index], 'a column of the table');
    return isNumeric ? cell.padStart(width) : cell.padEnd(width);
  };
  return lines.map((line) => `${line.map(align).join('  ').trimEnd()}\n`).join('');
}

/** Prints one line per fact about a single item. */
export function facts(pairs: readonly (readonly [string, Cell])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${show(value)}\n`).join('');
}

/** Users choose names, so control characters are replaced: they could move the cursor or color the terminal. */
function show(cell: Cell): string {
  return cell === null || cell === undefined ? '-' : String(cell).replaceAll(/\p{C}/gu, '?');
}
