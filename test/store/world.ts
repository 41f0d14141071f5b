// The setup for tests of the store: a store, its clock, accounts, and other servers on the same database.

import { randomUUID } from 'node:crypto';
import type { Subscription } from '../../src/service/account/subscription.ts';
import type { Engine } from '../../src/service/store/engine.ts';
import { createStore, type Store } from '../../src/service/store/store.ts';
import type { NewHold } from '../../src/service/store/ledger/holds.ts';
import type { TestDatabase } from './databases.ts';

export const START = new Date('2026-01-31T10:00:00.000Z');
export const LIMIT = 100;
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export class World {
  readonly database: TestDatabase;
  readonly engine: Engine;
  readonly store: Store;
  #now = START.getTime();

  private constructor(database: TestDatabase, engine: Engine) {
    this.database = database;
    this.engine = engine;
    this.store = createStore(engine, this.clock, 'here/1/a');
  }

  static async begin(database: TestDatabase): Promise<World> {
    return new World(database, await database.open());
  }

  readonly clock = (): Date => new Date(this.#now);

  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }

  goTo(at: string): void {
    this.#now = new Date(at).getTime();
  }

  /** Another server, with a connection of its own. */
  async server(owner: string): Promise<Store> {
    return createStore(await this.database.open(), this.clock, owner);
  }

  async account(plan = 'free'): Promise<string> {
    const id = randomUUID();
    await this.store.accounts.create({ id, name: `Account ${id}` }, 'cli:test');
    await this.store.accounts.subscribe(id, plan, 'now', 'cli:test');
    return id;
  }

  async subscription(accountId: string): Promise<Subscription> {
    const subscription = (await this.store.accounts.find(accountId))?.subscription;
    if (subscription === undefined) throw new Error(`account ${accountId} has no subscription`);
    return subscription;
  }

  async hold(accountId: string, changes: Partial<NewHold> = {}): Promise<NewHold> {
    const { period } = await this.subscription(accountId);
    const defaults = { keyId: undefined, mode: 'live', kind: 'image', credits: 1, limit: LIMIT } as const;
    return { renderId: randomUUID(), accountId, period, ...defaults, ...changes };
  }

  async balance(accountId: string): Promise<{ used: number; reserved: number }> {
    const { period } = await this.subscription(accountId);
    const { used, reserved } = await this.store.ledger.balance(accountId, period, LIMIT);
    return { used, reserved };
  }

  async actions(accountId: string): Promise<string[]> {
    const entries = await this.store.audit.list({ accountId, count: 100 });
    return entries.map(({ actor, action }) => `${actor} ${action}`).toReversed();
  }
}

export const DELIVERED = { outcome: 'delivered', durationMs: 12.4 } as const;
export const FAILED = { outcome: 'deadline_exceeded', durationMs: undefined } as const;
