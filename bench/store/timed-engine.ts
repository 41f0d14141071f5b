// An engine that remembers how much processor time each statement took, and the longest time that the event loop was blocked.

import type { Engine, SqlSession } from '../../src/service/store/engine.ts';

export interface Timing {
  /** The slowest statement, and its milliseconds. */
  statement: string;
  worstMs: number;
  /** The time of several statements in a row without a pause, on SQLite with their commits. */
  blockedMs: number;
}

/** Returns the CPU time of this process, so that other work on the machine doesn't count. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

export class TimedEngine implements Engine {
  readonly dialect: Engine['dialect'];
  readonly #engine: Engine;
  readonly #session: SqlSession;
  #timing: Timing = { statement: '', worstMs: 0, blockedMs: 0 };

  constructor(engine: Engine) {
    this.#engine = engine;
    this.dialect = engine.dialect;
    this.#session = this.#timed(engine);
  }

  /** Returns the timing of everything that `work` runs. */
  async watch(work: () => Promise<unknown>): Promise<Timing> {
    this.#timing = { statement: '', worstMs: 0, blockedMs: 0 };
    let last = cpuMs();
    let isWatching = true;
    const tick = (): void => {
      const now = cpuMs();
      this.#timing.blockedMs = Math.max(this.#timing.blockedMs, now - last);
      last = now;
      if (isWatching) setImmediate(tick);
    };
    await new Promise<void>((resolve) => setImmediate(resolve));
    last = cpuMs();
    setImmediate(tick);
    await work();
    await new Promise<void>((resolve) => setImmediate(resolve));
    isWatching = false;
    return this.#timing;
  }

  async all(...parameters: Parameters<SqlSession['all']>): ReturnType<SqlSession['all']> {
    // The statement runs in a transaction, so that the time of the commit, which waits for the disk, doesn't count.
    if (/^\s*(?:insert|update|delete)\b/u.test(parameters[0])) {
      return await this.transaction(async (session) => await session.all(...parameters));
    }
    return await this.#session.all(...parameters);
  }

  async run(...parameters: Parameters<SqlSession['run']>): ReturnType<SqlSession['run']> {
    return await this.transaction(async (session) => await session.run(...parameters));
  }

  async transaction<Result>(work: (session: SqlSession) => Promise<Result>): Promise<Result> {
    return await this.#engine.transaction(async (session) => await work(this.#timed(session)));
  }

  async close(): Promise<void> {
    await this.#engine.close();
  }

  #timed(session: SqlSession): SqlSession {
    const time = async <Result>(sql: string, run: () => Promise<Result>): Promise<Result> => {
      const started = cpuMs();
      const result = await run();
      const ms = cpuMs() - started;
      if (ms > this.#timing.worstMs) Object.assign(this.#timing, { worstMs: ms, statement: sql });
      return result;
    };
    return {
      all: async (sql, parameters) => await time(sql, async () => await session.all(sql, parameters)),
      run: async (sql, parameters) => await time(sql, async () => await session.run(sql, parameters)),
    };
  }
}
