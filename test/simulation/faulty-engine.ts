// The connection of one simulated server to the database, which is a real one in memory. The server may crash before any
// statement and after any commit. The connection may be slow, unavailable, or break during a commit.

import { type Engine, OutcomeUnknown, type SqlSession, unavailable } from '../../src/service/store/engine.ts';
import type { SqlParameters, SqlRow } from '../../src/service/store/rows.ts';

export interface Faults {
  /** Called before each statement and after each commit. Returns true if the server crashes here. */
  readonly crashesHere: () => boolean;
  /** How the next use of the connection goes wrong. */
  readonly trouble: () => 'unavailable' | 'outcome unknown' | undefined;
  /** Waits as long as the next use of the connection takes. */
  readonly delay: () => Promise<void>;
  readonly onCommit: (statements: readonly string[], parameters: readonly SqlParameters[]) => void;
}

class Crashed extends Error {}

const WRITES = /^\s*(?<verb>insert into|update|delete from)\s+(?<table>\w+)/iu;

export class FaultyEngine implements Engine {
  readonly dialect = 'sqlite';
  readonly #engine: Engine;
  readonly #faults: Faults;

  constructor(engine: Engine, faults: Faults) {
    this.#engine = engine;
    this.#faults = faults;
  }

  async all(sql: string, parameters: SqlParameters = {}): Promise<SqlRow[]> {
    if (WRITES.test(sql)) return await this.transaction(async (session) => await session.all(sql, parameters));
    return await this.#use(async () => await this.#engine.all(sql, parameters));
  }

  async run(sql: string, parameters: SqlParameters = {}): Promise<number> {
    return await this.transaction(async (session) => await session.run(sql, parameters));
  }

  async transaction<Result>(work: (session: SqlSession) => Promise<Result>): Promise<Result> {
    const statements: string[] = [];
    const used: SqlParameters[] = [];
    const note = (sql: string, parameters: SqlParameters): void => {
      if (this.#faults.crashesHere()) throw new Crashed();
      const written = WRITES.exec(sql)?.groups;
      if (written === undefined) return;
      statements.push(`${written['verb']} ${written['table']}`);
      used.push(parameters);
    };
    const result = await this.#use(
      async () =>
        await this.#engine.transaction(
          async (session) =>
            await work({
              all: async (sql, parameters = {}) => {
                note(sql, parameters);
                return await session.all(sql, parameters);
              },
              run: async (sql, parameters = {}) => {
                note(sql, parameters);
                return await session.run(sql, parameters);
              },
            }),
        ),
    );
    if (statements.length > 0) this.#faults.onCommit(statements, used);
    if (this.#faults.crashesHere()) return await forever();
    return result;
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }

  async #use<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#faults.delay();
    if (this.#faults.crashesHere()) return await forever();
    const trouble = this.#faults.trouble();
    if (trouble === 'unavailable') throw unavailable(new Error('simulated'));
    try {
      const result = await work();
      if (trouble === 'outcome unknown') throw new OutcomeUnknown(new Error('simulated'));
      return result;
    } catch (error) {
      if (error instanceof Crashed) return await forever();
      throw error;
    }
  }
}

/** What a crashed server waits for. */
async function forever(): Promise<never> {
  return await new Promise(() => undefined);
}
