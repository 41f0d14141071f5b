import type { ObjectRange } from '../../storage/object-storage.ts';

/**
 * Returns the single range that a `range` header asks for (RFC 9110), or undefined for the whole file if there is none
 * or there are several.
 */
export function parseRange(header: string | undefined, size: number): ObjectRange | 'unsatisfiable' | undefined {
  const match = /^\s*bytes\s*=\s*(?:(?<first>\d{1,15})\s*)?-\s*(?:(?<last>\d{1,15})\s*)?$/iu.exec(header ?? '');
  const { first = '', last = '' } = match?.groups ?? {};
  if (match === null || (first === '' && last === '')) return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
