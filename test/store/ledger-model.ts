// A simple model of the ledger: a list of holds, and every sum computed from them. Random commands go to both the ledger and
// the model; the first result or balance that differs is an error.

import { deepStrictEqual as same } from 'node:assert';
import { applyChange, type Subscription, changeDue, withPlan } from '../../src/service/account/subscription.ts';
import type { Engine } from '../../src/service/store/engine.ts';
import { reconcile } from '../../src/service/store/ledger/reconcile.ts';
import { integer, text } from '../../src/service/store/rows.ts';
import { createStore, type Store } from '../../src/service/store/store.ts';
import type { NewHold } from '../../src/service/store/ledger/holds.ts';
import type { Random } from './random.ts';
import { DAY, DELIVERED, FAILED, HOUR, START } from './world.ts';

const LIMITS: Readonly<Record<string, number>> = { free: 40, pro: 150 };
const LEASE_MS = 30_000;

interface Hold {
  readonly hold: NewHold;
  readonly owner: string;
  readonly cost: number;
  state: 'reserved' | 'settled' | 'released';
}

interface Sums {
  used: number;
  reserved: number;
}

export class LedgerModel {
  readonly #random: Random;
  readonly #engine: Engine;
  readonly #servers: readonly { readonly owner: string; readonly store: Store }[];
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #holds: Hold[] = [];
  readonly #reserved = new Set<Hold>();
  readonly #sums = new Map<string, Sums>();
  readonly #aliveUntil = new Map<string, number>();
  readonly #renewedAt = new Map<string, number>();
  #now = START.getTime();
  #names = 0;
  commands = 0;

  /** One server for each engine; they share a clock. */
  constructor(engines: readonly Engine[], random: Random) {
    const [engine] = engines;
    if (engine === undefined) throw new Error('at least one engine is required');
    this.#engine = engine;
    this.#random = random;
    this.#servers = engines.map((each, index) => {
      const owner = `there/${index}/x`;
      return { owner, store: createStore(each, () => new Date(this.#now), owner) };
    });
  }

  async run(commands: number): Promise<void> {
    for (const account of ['ann', 'bob', 'eve']) {
      await this.#anyStore().accounts.create({ id: account, name: account }, 'test');
      await this.#subscribe(account);
    }
    const choices = [
      ...repeat(30, async () => await this.#reserve()),
      ...repeat(20, async () => await this.#end('settle')),
      ...repeat(12, async () => await this.#end('release')),
      ...repeat(8, async () => await this.#repeat()),
      ...repeat(6, async () => await this.#burst()),
      ...repeat(8, async () => await this.#balance()),
      ...repeat(5, async () => await this.#heartbeat()),
      ...repeat(4, async () => await this.#sweep()),
      ...repeat(7, async () => await this.#moveClock()),
      ...repeat(2, async () => await this.#subscribe(this.#anyAccount())),
      ...repeat(1, async () => await this.#cancel()),
    ];
    let checkpoint = 2_000;
    while (this.commands < commands) {
      this.commands += 1;
      await this.#random.pick(choices)();
      if (this.commands < checkpoint) continue;
      checkpoint += 2_000;
      await this.#compareAll();
    }
    await this.#compareAll();
  }

  async #reserve(): Promise<void> {
    const hold = this.#newHold();
    const { owner, store } = this.#random.pick(this.#servers);
    const { granted, balance } = await store.ledger.reserve(hold);
    this.#ensure(owner);
    same(granted, this.#take(hold, owner));
    same(balance, { ...this.#sumsOf(hold), limit: hold.limit });
  }

  /** Makes several concurrent reservations of one price, across all servers. */
  async #burst(): Promise<void> {
    const first = this.#newHold();
    const holds = Array.from({ length: 2 + this.#random.whole(5) }, () => ({ ...first, renderId: this.#name() }));
    this.commands += holds.length - 1;
    const results = await Promise.all(
      holds.map(async (hold, index) => {
        const server = this.#servers[index % this.#servers.length] ?? this.#random.pick(this.#servers);
        this.#ensure(server.owner);
        return { hold, owner: server.owner, ...(await server.store.ledger.reserve(hold)) };
      }),
    );
    // Their order is random, but the number of granted ones isn't.
    const inOrder = results.toSorted((a, b) => Number(b.granted) - Number(a.granted));
    for (const { hold, owner, granted } of inOrder) same(granted, this.#take(hold, owner));
  }

  /**
   * Ends a hold, sometimes three times concurrently. Any server may try, but only the one that reserved the hold can end it. Most
   * are repeated sooner or later.
   */
  async #end(how: 'settle' | 'release'): Promise<void> {
    const hold = this.#anyHold();
    if (hold === undefined) return;
    const times = this.#random.whole(10) === 0 ? 3 : 1;
    this.commands += times - 1;
    const { renderId } = hold.hold;
    const isOwners = this.#random.whole(4) > 0;
    const own = this.#servers.filter(({ owner }) => (owner === hold.owner) === isOwners);
    const { ledger } = this.#random.pick(own).store;
    const results = await Promise.all(
      Array.from({ length: times }, async () => {
        return how === 'settle' ? await ledger.settle(renderId, DELIVERED) : await ledger.release(renderId, FAILED);
      }),
    );
    same(results.filter(Boolean).length, hold.state === 'reserved' && isOwners ? 1 : 0);
    if (isOwners) this.#finish(hold, how === 'settle' ? 'settled' : 'released');
  }

  async #repeat(): Promise<void> {
    const hold = this.#anyHold();
    if (hold === undefined) return;
    const { owner, store } = this.#random.pick(this.#servers);
    const { granted, balance } = await store.ledger.reserve(hold.hold);
    this.#ensure(owner);
    same(granted, hold.state !== 'released');
    same(balance, { ...this.#sumsOf(hold.hold), limit: hold.hold.limit });
  }

  async #balance(): Promise<void> {
    const hold = this.#anyHold()?.hold ?? this.#newHold();
    const balance = await this.#anyStore().ledger.balance(hold.accountId, hold.period, 7);
    same(balance, { ...this.#sumsOf(hold), limit: 7 });
  }

  async #heartbeat(): Promise<void> {
    const { owner, store } = this.#random.pick(this.#servers);
    await store.ledger.heartbeat();
    this.#renew(owner);
  }

  async #sweep(): Promise<void> {
    const { owner, store } = this.#random.pick(this.#servers);
    const gone = this.#random.whole(20) === 0 ? this.#random.pick(this.#servers).owner : '';
    const swept = await store.ledger.sweep((name) => name === gone);
    const isDead = (name: string): boolean =>
      name !== owner && (name === gone || (this.#aliveUntil.get(name) ?? 0) <= this.#now);
    const lost = [...this.#reserved].filter((hold) => isDead(hold.owner));
    same(swept.toSorted(), lost.map((hold) => hold.hold.renderId).toSorted());
    for (const hold of lost) this.#finish(hold, 'released');
    for (const name of [...this.#aliveUntil.keys()].filter(isDead)) this.#aliveUntil.delete(name);
  }

  /** Some server runs at any time, so days never pass without a heartbeat. */
  async #moveClock(): Promise<void> {
    const steps = [1, 900, 4_000, 9_000, 16_000, 40_000, -700, HOUR, DAY, 9 * DAY];
    const step = this.#random.pick(steps);
    this.#now += step;
    if (step >= DAY) await this.#heartbeat();
  }

  async #subscribe(account: string): Promise<void> {
    const plan = this.#random.pick(Object.keys(LIMITS));
    const when = this.#random.pick(['now', 'next period'] as const);
    const now = new Date(this.#now);
    const before = this.#subscriptions.get(account);
    const after = withPlan(before && applyChange(before, changeDue(before, now)), plan, when, now);
    same(await this.#anyStore().accounts.subscribe(account, plan, when, 'test'), after);
    this.#subscriptions.set(account, after);
  }

  async #cancel(): Promise<void> {
    const account = this.#anyAccount();
    const before = this.#current(account);
    same(await this.#anyStore().accounts.setRenews(account, false, 'test'), before.status === 'active');
    this.#subscriptions.set(account, before.status === 'active' ? { ...before, renews: false } : before);
    same((await this.#anyStore().accounts.find(account))?.subscription, this.#current(account));
  }

  /** Compares every sum in the database with the holds. */
  async #compareAll(): Promise<void> {
    const expected = new Map<string, Sums>();
    for (const { hold, cost, state } of this.#holds) {
      if (cost === 0) continue;
      const sums = expected.get(placeOf(hold)) ?? { used: 0, reserved: 0 };
      if (state === 'settled') sums.used += cost;
      if (state === 'reserved') sums.reserved += cost;
      expected.set(placeOf(hold), sums);
    }
    const rows = await this.#engine.all('select account_id, starts_at, used, reserved from periods');
    const stored = new Map(
      rows.map((row) => [
        `${text(row, 'account_id')} ${text(row, 'starts_at')}`,
        { used: integer(row, 'used'), reserved: integer(row, 'reserved') },
      ]),
    );
    same(stored, expected);
    same(await reconcile(this.#engine), []);
  }

  #newHold(): NewHold {
    const accountId = this.#anyAccount();
    // An account without an active subscription never gets to the ledger. Here its last period continues.
    const { plan, period } = this.#current(accountId);
    const mode = this.#random.whole(20) === 0 ? 'test' : 'live';
    const credits = this.#random.whole(9);
    const limit = LIMITS[plan] ?? 0;
    return { renderId: this.#name(), accountId, keyId: undefined, mode, kind: 'image', credits, period, limit };
  }

  #take(hold: NewHold, owner: string): boolean {
    const cost = hold.mode === 'test' ? 0 : hold.credits;
    const sums = this.#sumsOf(hold);
    if (cost > 0 && sums.used + sums.reserved + cost > hold.limit) return false;
    this.#sums.set(placeOf(hold), { ...sums, reserved: sums.reserved + cost });
    const taken: Hold = { hold, owner, cost, state: 'reserved' };
    this.#holds.push(taken);
    this.#reserved.add(taken);
    return true;
  }

  #finish(hold: Hold, state: 'settled' | 'released'): void {
    if (hold.state !== 'reserved') return;
    hold.state = state;
    this.#reserved.delete(hold);
    const { used, reserved } = this.#sumsOf(hold.hold);
    this.#sums.set(placeOf(hold.hold), {
      used: used + (state === 'settled' ? hold.cost : 0),
      reserved: reserved - hold.cost,
    });
  }

  #sumsOf(hold: NewHold): Sums {
    return this.#sums.get(placeOf(hold)) ?? { used: 0, reserved: 0 };
  }

  /** A server renews its lease before it holds anything, if the lease is half over. */
  #ensure(owner: string): void {
    const last = this.#renewedAt.get(owner) ?? Number.NEGATIVE_INFINITY;
    if (Math.abs(this.#now - last) > LEASE_MS / 2) this.#renew(owner);
  }

  #renew(owner: string): void {
    this.#renewedAt.set(owner, this.#now);
    this.#aliveUntil.set(owner, this.#now + LEASE_MS);
  }

  #current(account: string): Subscription {
    const stored = this.#subscriptions.get(account);
    if (stored === undefined) throw new Error(`${account} has no subscription`);
    return applyChange(stored, changeDue(stored, new Date(this.#now)));
  }

  #anyAccount(): string {
    return this.#random.pick([...this.#subscriptions.keys()]);
  }

  #anyStore(): Store {
    return this.#random.pick(this.#servers).store;
  }

  /** Mostly a recent hold, sometimes an old one. */
  #anyHold(): Hold | undefined {
    const latest = this.#random.whole(10) === 0 ? this.#holds : this.#holds.slice(-30);
    return latest.length === 0 ? undefined : this.#random.pick(latest);
  }

  #name(): string {
    this.#names += 1;
    return `render-${this.#names}`;
  }
}

function placeOf({ accountId, period }: NewHold): string {
  return `${accountId} ${period.startsAt.toISOString()}`;
}

function repeat<Item>(count: number, item: Item): Item[] {
  return Array.from({ length: count }, () => item);
}
