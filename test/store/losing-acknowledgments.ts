import { type Engine, OutcomeUnknown } from '../../src/service/store/engine.ts';

/** An engine whose connection breaks after each commit of a transaction, or after the first ones. */
export function losingAcknowledgments(engine: Engine, commits = Infinity): Engine {
  let left = commits;
  return {
    dialect: engine.dialect,
    all: async (sql, parameters) => await engine.all(sql, parameters),
    run: async (sql, parameters) => await engine.run(sql, parameters),
    transaction: async (work) => {
      const result = await engine.transaction(work);
      if (left === 0) return result;
      left -= 1;
      throw new OutcomeUnknown(new Error('connection reset'));
    },
    close: async () => await engine.close(),
  };
}
