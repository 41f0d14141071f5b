// An engine that remembers how long the caller waited for each statement. A wait for a free connection counts, too, so the times
// are never shorter than those that the database's own timeout applies to.

import type { Engine, SqlSession } from '../../../src/service/store/engine.ts';

export interface StatementTime {
  readonly sql: string;
  readonly count: number;
  readonly worstMs: number;
  readonly totalMs: number;
}

export class StatementTimes implements Engine {
  readonly dialect: Engine['dialect'];
  readonly #engine: Engine;
  readonly #times = new Map<string, StatementTime>();

  constructor(engine: Engine) {
    this.#engine = engine;
    this.dialect = engine.dialect;
  }

  /** Returns the statements since the last call, slowest first. */
  take(): StatementTime[] {
    const times = [...this.#times.values()].toSorted((a, b) => b.worstMs - a.worstMs);
    this.#times.clear();
    return times;
  }

  async all(...parameters: Parameters<SqlSession['all']>): ReturnType<SqlSession['all']> {
    return await this.#timed(this.#engine).all(...parameters);
  }

  async run(...parameters: Parameters<SqlSession['run']>): ReturnType<SqlSession['run']> {
    return await this.#timed(this.#engine).run(...parameters);
  }

  async transaction<Result>(work: (session: SqlSession) => Promise<Result>): Promise<Result> {
    return await this.#engine.transaction(async (session) => await work(this.#timed(session)));
  }

  async close(): Promise<void> {
    await this.#engine.close();
  }

  #timed(session: SqlSession): SqlSession {
    const time = async <Result>(sql: string, run: () => Promise<Result>): Promise<Result> => {
      const started = performance.now();
      try {
        return await run();
      } finally {
        this.#add(sql, performance.now() - started);
      }
    };
    return {
      all: async (sql, parameters) => await time(sql, async () => await session.all(sql, parameters)),
      run: async (sql, parameters) => await time(sql, async () => await session.run(sql, parameters)),
    };
  }

  #add(text: string, ms: number): void {
    const sql = text.replaceAll(/\s+/gu, ' ').trim();
    const { count = 0, worstMs = 0, totalMs = 0 } = this.#times.get(sql) ?? {};
    this.#times.set(sql, { sql, count: count + 1, worstMs: Math.max(worstMs, ms), totalMs: totalMs + ms });
  }
}
