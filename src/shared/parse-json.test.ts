import { describe, expect, it } from 'vitest';
import { ExcessiveJson, parseJson } from './parse-json.ts';

describe('JSON of a caller', () => {
  it.each([
    ['levels', 'more than 32 levels', `${'['.repeat(33)}${']'.repeat(33)}`],
    ['levels that never end', 'more than 32 levels', '{"a":['.repeat(500_000)],
    ['values in a list', 'more than 75,000 values', `[${'1,'.repeat(75_000)}1]`],
    ['empty objects', 'more than 75,000 values', `[${'{},'.repeat(75_000)}{}]`],
    [
      'keys',
      'more than 500 different keys',
      JSON.stringify(Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`k${index}`, index]))),
    ],
  ])('has a limit of %s', (_what, message, text) => {
    expect(() => parseJson(text)).toThrow(new ExcessiveJson(message));
  });

  it('can have many objects with the same keys', () => {
    const list = Array.from({ length: 15_000 }, (_, index) => ({ word: 'a', start: index, end: index }));
    expect(parseJson(JSON.stringify(list))).toEqual(list);
  });

  it('can have brackets, commas and colons in strings', () => {
    const value = { [`"${'[{,:'.repeat(20_000)}\\`]: ['\\', '\\"', `${'\\'.repeat(9)}"[[`, ',[{:'.repeat(80_000)] };
    expect(parseJson(JSON.stringify(value))).toEqual(value);
  });

  it.each(['', '"', '"\\"', '{"a":}', '[1,]'])('that is malformed is a syntax error: %s', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
