// Everything that is stored about one account, to export or to delete it. Part of the store's interface.

import type { Actor } from '../actor.ts';

/** Some rows of one kind. A kind with many rows comes in several batches, one after the other. */
export interface ExportedRows {
  readonly name: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export interface AccountData {
  /** All data of the account without secrets: no hashes, and no links that give access. */
  exported(accountId: string): AsyncIterable<ExportedRows>;
  /**
   * Deletes the account: its users, keys, sessions and plan immediately, in one transaction. The rest is deleted by `purge`.
   * False when there is no such account, or it was deleted before.
   */
  erase(accountId: string, actor: Actor): Promise<boolean>;
  /**
   * Deletes what is left of erased accounts, in small steps. Returns the ids of those of which nothing is left. An account
   * that fails doesn't stop the others and is tried again the next time.
   */
  purge(onFailed: (accountId: string, error: unknown) => void): Promise<string[]>;
}
