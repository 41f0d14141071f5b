import { describe, expect, it } from 'vitest';
import { toCsv } from './csv.ts';

describe('toCsv', () => {
  it('quotes cells with commas, quotes or line breaks, and leaves numbers unchanged', () => {
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
    'prefixes %j with an apostrophe, so that no spreadsheet evaluates it as a formula',
    (text) => {
      const [, cell = ''] = toCsv(['a'], [[text]]).split('\r\n');
      expect(cell.replace(/^"/u, '')).toMatch(/^'/u);
    },
  );
});
