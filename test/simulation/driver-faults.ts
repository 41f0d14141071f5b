// Makes one call to the driver of the embedded database fail: the beginning of a transaction, a statement that writes, or a
// commit.

import Database from 'libsql';

const COUNTED = /^\s*(?:begin|commit|insert|update|delete)/iu;

export class DriverFaults {
  /** The calls so far. */
  readonly calls: string[] = [];
  readonly #failing: number;
  readonly #code: string;

  /** Nothing fails with the number 0. */
  constructor(failing: number, code: string) {
    this.#failing = failing;
    this.#code = code;
  }

  /** Returns the function that puts the driver back. */
  install(): () => void {
    // Both are called on the database they belong to, below.
    // oxlint-disable-next-line typescript/unbound-method
    const { exec, prepare } = Database.prototype;
    const count = (sql: string): void => this.#count(sql);
    const counting =
      (sql: string, call: (...values: unknown[]) => unknown) =>
      (...values: unknown[]): unknown => {
        count(sql);
        return call(...values);
      };
    Object.assign(Database.prototype, {
      exec(this: Database.Database, sql: string) {
        count(sql);
        return exec.call(this, sql);
      },
      prepare(this: Database.Database, sql: string) {
        const statement = prepare.call(this, sql) as Database.Statement;
        const [run, all] = [statement.run.bind(statement), statement.all.bind(statement)];
        return Object.assign(statement, { run: counting(sql, run), all: counting(sql, all) });
      },
    });
    return () => Object.assign(Database.prototype, { exec, prepare });
  }

  #count(sql: string): void {
    if (!COUNTED.test(sql)) return;
    this.calls.push(sql.trim().split(/\s+/u).slice(0, 3).join(' '));
    if (this.calls.length === this.#failing) {
      throw Object.assign(new Error(`simulated ${this.#code}`), { code: this.#code });
    }
  }
}
