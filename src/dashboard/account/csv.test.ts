import { describe, expect, it } from 'vitest';
import { toCsv } from './csv.ts';

describe('a table for spreadsheets', () => {
  it('quotes what needs quotes, and leaves numbers alone', () => {
    expect(
      toCsv(
        ['a', 'b', 'c'],
        [
          ['x, y', -3, null],
          ['say "hi"', 0.5, 'two\nlines'],
        ],
      ),
    ).toBe('a,b,c\r\n"x, y",-3,\r\n"say ""hi""",0.5,"two\nlines"\r\n');
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '=HYPERLINK("http://evil.example","x")'])(
    'makes no formula of %j',
    (text) => {
      const [, cell = ''] = toCsv(['a'], [[text]]).split('\r\n');
      expect(cell.replace(/^"/u, '')).toMatch(/^'/u);
    },
  );
});
