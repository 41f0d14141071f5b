import { describe, expect, it } from 'vitest';
import { compile, valuesFor } from './engine.ts';

describe('named parameters', () => {
  const sql = "select :id::text from t where a = :id and b > :after and c = 'operator:%'";

  it('named parameters go into a statement in the order in which their names first occur', () => {
    expect(valuesFor(sql, { after: 2, id: 'x', other: null })).toEqual(['x', 2]);
  });

  it('become numbers for PostgreSQL, one for each name', () => {
    expect(compile(sql).numbered).toBe("select $1::text from t where a = $1 and b > $2 and c = 'operator:%'");
  });

  it('a named parameter without a value is an error', () => {
    expect(() => valuesFor(sql, { id: 'x' })).toThrow('the parameter :after has no value');
  });
});
