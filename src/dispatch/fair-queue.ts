// Start-time fair queueing (Goyal, Vin and Cheng, 1996): accounts share slots by what their entries cost, not by how many
// entries they send. An entry's start tag is its account's finish tag or the virtual time, whichever is later; its finish tag
// is its start tag plus its cost. The entry with the lowest start tag goes first, and the virtual time is the start tag of
// the entry dispatched last. Finish tags that the virtual time has passed are forgotten, and so are those of inactive
// accounts when nothing waits, so what an account rendered alone doesn't count in a later contest.

import { AppError } from '../errors.ts';
import { must } from '../primitives/must.ts';
import type { Requester } from './renderer.ts';

export interface QueueEntry extends Requester {
  /** Estimated milliseconds of work. */
  readonly cost: number;
  /** Already charged: a second try, or the render of an asset that waited before its probe. Goes first, is never refused. */
  readonly isRetry?: boolean;
  /** Takes so long that it may not occupy the slots kept free for short entries. */
  readonly isLong?: boolean;
  /** Lays out captions without drawing. Costs no credits, so such entries never hold more than half of the slots. */
  readonly isLayout?: boolean;
}

/** The slots that entries wait for. Their owner knows how many there are and which ones are free. */
export interface SlotSource<Slot> {
  /** All slots, busy ones included. */
  readonly total: () => number;
  readonly free: () => number;
  /** How many long entries may be in service at a time; absent when all slots may serve them. */
  readonly maxLong?: () => number;
  /** Called only when a slot is free. */
  readonly take: (entry: QueueEntry) => Slot;
}

interface Waiter<Slot> {
  readonly entry: QueueEntry;
  readonly arrival: number;
  readonly resolve: (slot: Slot) => void;
  readonly reject: (reason: Error) => void;
}

interface AccountState<Slot> {
  /** In order of arrival, without retries. */
  readonly waiters: Waiter<Slot>[];
  inService: number;
  longInService: number;
  /** Of the last entry dispatched. Entries that leave the queue earlier are never charged. */
  finishTag: number;
}

const MAX_RETRY_AFTER_SECONDS = 60;
/** Fraction of its spare time that an entry may be expected to wait. The rest is for estimates that are too low. */
const MAX_WAIT_FRACTION = 0.6;

export class FairQueue<Slot> {
  readonly #slots: SlotSource<Slot>;
  readonly #maxWaiting: number;
  readonly #accounts = new Map<string, AccountState<Slot>>();
  readonly #retries: Waiter<Slot>[] = [];
  /** Without retries. */
  #waiting = 0;
  /** What they cost together. A sum that is kept, because every refused request asks for it. */
  #waitingWork = 0;
  #arrivals = 0;
  /** Entries that are about to enter the queue; see `expect`. */
  #expected = 0;
  #virtualTime = 0;
  #longInService = 0;
  #layoutsInService = 0;
  /** The account of the long entry served last. */
  #lastLong: string | undefined;

  constructor(slots: SlotSource<Slot>, maxWaiting: number) {
    this.#slots = slots;
    this.#maxWaiting = maxWaiting;
  }

  get waiting(): number {
    return this.#retries.length + this.#waiting;
  }

  /** Waiting work in milliseconds of one slot. */
  get backlogMs(): number {
    return Math.round(workOf(this.#retries) + this.#waitingWork);
  }

  /** Accounts that the queue keeps track of. */
  get accounts(): number {
    return this.#accounts.size;
  }

  /** Throws `overloaded` if the queue is full and an entry of this account would be refused. */
  assertRoom(account: string): void {
    if (this.#isFull() && !this.#findEvictable(account)) throw this.#overloaded();
  }

  /**
   * Keeps a place for an entry whose file is being prepared, so that no more files are prepared than fit into the queue. Throws
   * `overloaded` when there is none. Returns a function that gives up the place; `take` calls it when the entry arrives.
   */
  expect(account: string): () => void {
    this.assertRoom(account);
    this.#expected += 1;
    let isExpected = true;
    return () => {
      if (isExpected) this.#expected -= 1;
      isExpected = false;
    };
  }

  /** Resolves with a slot; call `release` when done with it. Rejects with `overloaded` or with the signal's reason. */
  async take(signal: AbortSignal, entry: QueueEntry): Promise<Slot> {
    entry.leavePlace?.();
    signal.throwIfAborted();
    assertFinite(entry.cost);
    this.dispatch();
    if (this.#slots.free() > 0 && this.#mayServe(entry)) return this.#serve(entry);
    if (!entry.isRetry) this.#makeRoom(entry);
    else if (entry.isLong) this.#assertInTime(entry);
    return await this.#wait(signal, entry);
  }

  /** Ends the service of one entry of the account, whether or not its slot can be used again. */
  release(account: string, { isLong, isLayout }: Pick<QueueEntry, 'isLong' | 'isLayout'> = {}): void {
    const state = must(this.#accounts.get(account), 'the account in service');
    state.inService -= 1;
    if (isLayout) this.#layoutsInService -= 1;
    if (isLong) {
      state.longInService -= 1;
      this.#longInService -= 1;
    }
    this.dispatch();
    this.#forgetAccounts();
  }

  /** Serves waiting entries while slots are free. Call it when the number of slots has grown. */
  dispatch(): void {
    while (this.waiting > 0 && this.#slots.free() > 0) {
      const next = this.#findRetry() ?? this.#findNext();
      // Long entries or layouts wait, and the free slots are kept for others.
      if (!next) return;
      const slot = this.#serve(next.entry);
      this.#remove(next);
      next.resolve(slot);
    }
  }

  /** Corrects what an account was charged. More counts like another entry dispatched now; less is refunded. */
  adjustCost(account: string, delta: number): void {
    assertFinite(delta);
    if (delta > 0) this.#charge(account, delta);
    else this.#stateOf(account).finishTag += delta;
    this.#forgetAccounts();
  }

  rejectWaiting(reason: Error): void {
    const waiters = this.#retries.splice(0);
    for (const state of this.#accounts.values()) waiters.push(...state.waiters.splice(0));
    this.#waiting = 0;
    this.#waitingWork = 0;
    this.#forgetAccounts();
    for (const waiter of waiters) waiter.reject(reason);
  }

  #serve(entry: QueueEntry): Slot {
    const state = this.#stateOf(entry.account);
    state.inService += 1;
    if (entry.isLayout) this.#layoutsInService += 1;
    if (entry.isLong) {
      state.longInService += 1;
      this.#lastLong = entry.account;
      this.#longInService += 1;
    }
    if (!entry.isRetry) this.#charge(entry.account, entry.cost);
    return this.#slots.take(entry);
  }

  async #wait(signal: AbortSignal, entry: QueueEntry): Promise<Slot> {
    return await new Promise<Slot>((resolve, reject) => {
      const onAbort = (): void => {
        this.#remove(waiter);
        reject(signal.reason);
      };
      this.#arrivals += 1;
      const waiter: Waiter<Slot> = {
        entry,
        arrival: this.#arrivals,
        resolve: (slot) => {
          signal.removeEventListener('abort', onAbort);
          resolve(slot);
        },
        reject: (reason) => {
          signal.removeEventListener('abort', onAbort);
          reject(reason);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#add(waiter);
    });
  }

  #add(waiter: Waiter<Slot>): void {
    if (waiter.entry.isRetry) {
      this.#retries.push(waiter);
      return;
    }
    const state = this.#stateOf(waiter.entry.account);
    state.finishTag = this.#startTag(state);
    state.waiters.push(waiter);
    this.#countWaiting(1, waiter);
  }

  #remove(waiter: Waiter<Slot>): void {
    const { account, isRetry } = waiter.entry;
    const waiters = isRetry ? this.#retries : this.#stateOf(account).waiters;
    waiters.splice(waiters.indexOf(waiter), 1);
    if (!isRetry) this.#countWaiting(-1, waiter);
    this.#forgetAccounts();
  }

  #countWaiting(change: 1 | -1, { entry }: Waiter<Slot>): void {
    this.#waiting += change;
    // An empty queue is worth exactly nothing, so rounding errors don't add up.
    this.#waitingWork = this.#waiting === 0 ? 0 : this.#waitingWork + change * entry.cost;
  }

  #stateOf(account: string): AccountState<Slot> {
    const known = this.#accounts.get(account);
    if (known) return known;
    const state = { waiters: [], inService: 0, longInService: 0, finishTag: this.#virtualTime };
    this.#accounts.set(account, state);
    return state;
  }

  /** Of the account's next entry. A waiting account that was refunded may be behind the virtual time. */
  #startTag({ waiters, finishTag }: AccountState<Slot>): number {
    return waiters.length > 0 ? finishTag : Math.max(finishTag, this.#virtualTime);
  }

  #charge(account: string, cost: number): void {
    const state = this.#stateOf(account);
    const startTag = this.#startTag(state);
    state.finishTag = startTag + cost;
    // A correction may be charged before the account's turn. The virtual time must not overtake an account that waits.
    let reached = startTag;
    for (const other of this.#accounts.values()) {
      if (other !== state && this.#firstServable(other)) reached = Math.min(reached, other.finishTag);
    }
    this.#virtualTime = Math.max(this.#virtualTime, reached);
  }

  #forgetAccounts(): void {
    for (const [account, { waiters, inService, finishTag }] of this.#accounts) {
      if (waiters.length > 0 || inService > 0) continue;
      if (this.#waiting === 0 || finishTag <= this.#virtualTime) this.#accounts.delete(account);
    }
  }

  #mayServe({ isLong, isLayout }: QueueEntry): boolean {
    if (isLayout && this.#layoutsInService >= Math.max(1, Math.floor(this.#slots.total() / 2))) return false;
    return !isLong || this.#longInService < (this.#slots.maxLong?.() ?? Number.POSITIVE_INFINITY);
  }

  /** The account's next entry. Layouts that have to wait for others don't hold up the account's renders. */
  #firstServable({ waiters }: AccountState<Slot>): Waiter<Slot> | undefined {
    return waiters.find(({ entry }) => this.#mayServe(entry));
  }

  /** The first that may be served. Long ones are taken from their accounts in turn. */
  #findRetry(): Waiter<Slot> | undefined {
    const first = this.#retries.find(({ entry }) => this.#mayServe(entry));
    if (!first?.entry.isLong) return first;
    const before = new Map<string, number>();
    let next = first;
    let fewest = Number.POSITIVE_INFINITY;
    for (const waiter of this.#retries) {
      const { account, isLong } = waiter.entry;
      if (!isLong) continue;
      const served = (this.#accounts.get(account)?.longInService ?? 0) + (account === this.#lastLong ? 1 : 0);
      const count = before.get(account) ?? served;
      before.set(account, count + 1);
      if (count >= fewest) continue;
      next = waiter;
      fewest = count;
    }
    return next;
  }

  /** The entry with the lowest start tag; among equals, the one that arrived first. */
  #findNext(): Waiter<Slot> | undefined {
    let next: Waiter<Slot> | undefined;
    let lowest = Number.POSITIVE_INFINITY;
    for (const state of this.#accounts.values()) {
      const { finishTag } = state;
      if (finishTag > lowest) continue;
      const first = this.#firstServable(state);
      if (!first) continue;
      if (next && finishTag === lowest && next.arrival < first.arrival) continue;
      next = first;
      lowest = finishTag;
    }
    return next;
  }

  /** Refuses an entry that would wait too long. In a full queue, evicts an entry of the account that has the most. */
  #makeRoom({ account, cost, budgetMs }: QueueEntry): void {
    if (this.#expectedWaitMs(account) > (budgetMs - cost) * MAX_WAIT_FRACTION) throw this.#overloaded();
    if (!this.#isFull()) return;
    const evicted = this.#findEvictable(account);
    if (!evicted) throw this.#overloaded();
    this.#remove(evicted);
    evicted.reject(this.#overloaded());
  }

  #isFull(): boolean {
    return this.#waiting + this.#expected >= this.#maxWaiting + Math.max(0, this.#slots.free());
  }

  /** A long entry waits for other long ones, which its probe did not wait for. */
  #assertInTime({ cost, budgetMs }: QueueEntry): void {
    const slots = Math.max(1, Math.min(this.#slots.total(), this.#slots.maxLong?.() ?? this.#slots.total()));
    const waitMs = workOf(this.#retries.filter(({ entry }) => entry.isLong)) / slots;
    if (waitMs > (budgetMs - cost) * MAX_WAIT_FRACTION) throw this.#overloaded();
  }

  /** Of the account's next entry: it waits for all retries and for entries whose start tags aren't later than its own. */
  #expectedWaitMs(account: string): number {
    const own = this.#accounts.get(account);
    const ownStartTag = own ? this.#startTag(own) + workOf(own.waiters) : this.#virtualTime;
    let work = workOf(this.#retries);
    for (const { waiters, finishTag } of this.#accounts.values()) {
      let startTag = finishTag;
      for (const { entry } of waiters) {
        if (startTag > ownStartTag) break;
        work += entry.cost;
        startTag += entry.cost;
      }
    }
    return this.#timeFor(work);
  }

  /** The newest entry of the account with the most entries, unless the newcomer's account would then have as many. */
  #findEvictable(newcomer: string): Waiter<Slot> | undefined {
    let longest: readonly Waiter<Slot>[] = [];
    for (const { waiters } of this.#accounts.values()) if (waiters.length > longest.length) longest = waiters;
    const own = this.#accounts.get(newcomer)?.waiters.length ?? 0;
    return longest.length > own + 1 ? longest.at(-1) : undefined;
  }

  #timeFor(workMs: number): number {
    return workMs / Math.max(1, this.#slots.total());
  }

  #overloaded(): AppError {
    const seconds = Math.ceil(this.#timeFor(this.backlogMs) / 1_000);
    return new AppError('overloaded', 'Too many renders are waiting. Try again shortly.', {
      retryAfterSeconds: Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, seconds)),
    });
  }
}

function workOf(waiters: readonly { readonly entry: QueueEntry }[]): number {
  return waiters.reduce((sum, { entry }) => sum + entry.cost, 0);
}

/** A single NaN would spread to every finish tag and end fairness for all accounts. */
function assertFinite(cost: number): void {
  if (!Number.isFinite(cost)) throw new RangeError(`The cost of a render must be a finite number; got ${cost}.`);
}
