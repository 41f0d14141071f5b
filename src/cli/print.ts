// What the operator's commands print: a table for people, or one line of JSON for programs.

export type Print = (data: unknown, text: string) => void;

export function printer(json: boolean): Print {
  return (data, text) => {
    process.stdout.write(json ? `${JSON.stringify(data)}\n` : text);
  };
}

type Cell = string | number | null | undefined;

/** Columns as wide as their longest cell, numbers to the right. `none` is said instead of an empty table. */
export function table(headers: readonly string[], rows: readonly (readonly Cell[])[], none: string): string {
  if (rows.length === 0) return `${none}\n`;
  const texts = rows.map((row) => row.map(show));
  const widths = headers.map((header, column) =>
    Math.max(header.length, ...texts.map((row) => row[column]?.length ?? 0)),
  );
  const isNumber = headers.map((_, column) => rows.every((row) => typeof row[column] === 'number'));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return [headers, ...texts].map((row) => `${line(row)}\n`).join('');
}

/** One fact a line, for a single thing. */
export function facts(pairs: readonly (readonly [string, Cell])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${show(value)}\n`).join('');
}

/** Names come from callers: what would move the cursor or color the terminal is not passed on. */
function show(cell: Cell): string {
  return cell === null || cell === undefined ? '-' : String(cell).replaceAll(/\p{C}/gu, '?');
}
