import { describe, expect, it } from 'vitest';
import {
  bool,
  date,
  integer,
  integerOrNull,
  jsonObject,
  oneOf,
  real,
  type SqlRow,
  storedValue,
  text,
  textList,
  textOrNull,
  toRow,
} from './rows.ts';

const ROW: SqlRow = {
  name: 'Ann',
  credits: 3,
  share: 0.5,
  renews: 1,
  nothing: null,
  at: '2026-01-31T10:00:00.000Z',
  list: '["a","b"]',
  object: '{"a":1}',
};

describe('reading a database row', () => {
  it('returns columns of the expected type', () => {
    expect(toRow(ROW)).toBe(ROW);
    expect([text(ROW, 'name'), textOrNull(ROW, 'name'), textOrNull(ROW, 'nothing')]).toEqual(['Ann', 'Ann', null]);
    expect([integer(ROW, 'credits'), integerOrNull(ROW, 'nothing'), real(ROW, 'share')]).toEqual([3, null, 0.5]);
    expect([bool(ROW, 'renews'), oneOf(ROW, 'name', ['Ann', 'Bob'])]).toEqual([true, 'Ann']);
    expect(date(ROW, 'at')).toEqual(new Date('2026-01-31T10:00:00.000Z'));
    expect([textList(ROW, 'list'), textList(ROW, 'nothing'), jsonObject(ROW, 'object')]).toEqual([
      ['a', 'b'],
      [],
      { a: 1 },
    ]);
    expect([storedValue(ROW, 'name'), storedValue(ROW, 'nothing')]).toEqual(['Ann', null]);
  });

  it.each<[string, () => unknown]>([
    ['a row that is not an object', () => toRow(7)],
    ['a text that is a number', () => text(ROW, 'credits')],
    ['a text that is null', () => text(ROW, 'nothing')],
    ['a column that was not selected', () => textOrNull(ROW, 'absent')],
    ['an integer that is a text', () => integer(ROW, 'name')],
    ['an integer with a fraction', () => integer(ROW, 'share')],
    ['a number that is a text', () => real(ROW, 'name')],
    ['a date that is none', () => date(ROW, 'name')],
    ['a value that is not allowed', () => oneOf(ROW, 'name', ['Bob'])],
    ['a list that is an object', () => textList(ROW, 'object')],
    ['an object that is a list', () => jsonObject(ROW, 'list')],
    ['a value that no column holds', () => storedValue({ flag: true }, 'flag')],
  ])('throws for %s', (_name, read) => {
    expect(read).toThrow(TypeError);
  });
});
