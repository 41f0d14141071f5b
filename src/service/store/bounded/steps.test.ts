import { expect, it } from 'vitest';
import type { Engine } from '../engine.ts';
import { EVERY_ROW, listInSteps, rangesOf } from './steps.ts';

/** A table with the numbers from 1 to 9,999, none of which matches the filter of a list. Counts the statements. */
function tableOf(dialect: Engine['dialect']): { readonly engine: Engine; readonly count: () => number } {
  let statements = 0;
  const numbered = (number: number): string => String(number).padStart(4, '0');
  const engine: Engine = {
    dialect,
    all: async (sql, parameters = {}) => {
      statements += 1;
      const { before_at: before = '9999', after = '', skipped = 0 } = parameters;
      if (sql.includes('offset') && sql.includes(' desc')) {
        const number = Number(before) - 1 - Number(skipped);
        return number > 0 ? [{ at: numbered(number) }] : [];
      }
      if (sql.includes('offset')) {
        const number = Number(after) + 1 + Number(skipped);
        return number < 9_999 ? [{ bound: numbered(number) }] : [];
      }
      return sql.includes('as bound') ? [{ bound: '9999' }] : [];
    },
    run: async () => 0,
    transaction: async (work) => await work(engine),
    close: async () => undefined,
  };
  return { engine, count: () => statements };
}

async function listAll(engine: Engine): Promise<void> {
  const list = { columns: 'at', table: 'requests', order: ['at'], within: [], count: 50 };
  expect(await listInSteps(engine, { ...list, filter: [['status = 500', {}]] })).toEqual([]);
}

async function sumAll(engine: Engine): Promise<void> {
  const bounds: string[] = [];
  const ranges = rangesOf(engine, { table: 'holds', column: 'finished_at', within: EVERY_ROW });
  for await (const { to } of ranges) bounds.push(to);
  expect(bounds.at(-1)).toBe('9999');
}

it.each([
  ['a list', listAll],
  ['a sum', sumAll],
])(
  '%s over many rows takes fewer and longer steps on PostgreSQL, where a step blocks nothing else',
  async (_, read) => {
    const [sqlite, postgres] = [tableOf('sqlite'), tableOf('postgres')];
    await read(sqlite.engine);
    await read(postgres.engine);
    expect(postgres.count() * 4).toBeLessThan(sqlite.count());
  },
);
