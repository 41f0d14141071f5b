// Tables for spreadsheets (RFC 4180). A cell that a spreadsheet would take for a formula gets an apostrophe before it.

export type CsvValue = string | number | null;

export function toCsv(heads: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [heads, ...rows].map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('');
}

function toCell(value: CsvValue): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/u.test(value) ? `'${value}` : value;
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
