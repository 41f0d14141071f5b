// CSV for spreadsheets (RFC 4180). A cell that a spreadsheet would evaluate as a formula is prefixed with an apostrophe.

export type CsvValue = string | number | null;

export function toCsv(header: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [header, ...rows].map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('');
}

function toCell(value: CsvValue): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/u.test(value) ? `'${value}` : value;
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
