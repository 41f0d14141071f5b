// Decides which entry gets a slot next. Renders with a waiting caller and renders in the background share the slots
// nine to one, and within each of the two, accounts share them by the cost of their renders. Guests and layouts hold at
// most half of the slots each. Long renders leave a slot to short ones and, where there is only one slot, wait until no
// short render waits. An account that holds all slots gives one to others when a render overruns; see `mustYield`.

import { AppError } from '../../../shared/errors.ts';
import type { LeaseClass } from '../renderer.ts';
import { Shares } from './shares.ts';

export interface QueueEntry {
  readonly account: string;
  readonly class: LeaseClass;
  /** The work in estimated milliseconds. */
  readonly cost: number;
  /** The milliseconds for waiting and work together before the response comes too late. */
  readonly budgetMs: number;
  /** True if the entry was charged when it had a slot before. Such an entry goes first and is never refused. */
  readonly isCharged?: boolean;
  isLong?: boolean;
  /** True if the entry had a slot and gave it to another account. While it waits, its account leaves one slot free. */
  readonly hasYielded?: boolean;
  /**
   * Set when the entry is served while both background and other entries wanted the slot. Only then is it charged to
   * its side.
   */
  isContested?: boolean;
}

/** The slots that entries wait for. Their owner knows how many there are and which ones are free. */
export interface SlotSource<Slot> {
  /** All slots, busy ones included. */
  readonly total: () => number;
  /** The number of slots that long entries leave to short ones. */
  readonly forShort: () => number;
  readonly free: () => number;
  /** Called only when a slot is free. */
  readonly take: (entry: QueueEntry) => Slot;
  readonly giveBack: (slot: Slot) => void;
}

interface Waiter<Slot> {
  readonly entry: QueueEntry;
  readonly arrival: number;
  readonly resolve: (slot: Slot) => void;
  readonly reject: (reason: unknown) => void;
}

interface Account<Slot> {
  /** Entries in order of arrival, those that gave their slot away first, without charged ones. */
  readonly waiters: Waiter<Slot>[];
  inService: number;
}

/** One of the two sides that share the slots nine to one. */
interface Side<Slot> {
  readonly name: 'foreground' | 'background';
  readonly weight: number;
  readonly accounts: Map<string, Account<Slot>>;
  readonly shares: Shares;
  waiting: number;
}

const MAX_RETRY_AFTER_SECONDS = 60;
/** The fraction of its spare time that an entry may be expected to wait. The rest is for estimates that are too low. */
const MAX_WAIT_FRACTION = 0.6;

export class FairQueue<Slot> {
  readonly #slots: SlotSource<Slot>;
  readonly #maxWaiting: number;
  readonly #foreground: Side<Slot> = sideOf('foreground', 9);
  readonly #background: Side<Slot> = sideOf('background', 1);
  readonly #sides = [this.#foreground, this.#background];
  readonly #shares = new Shares();
  readonly #charged: Waiter<Slot>[] = [];
  readonly #inService: Record<LeaseClass, number> = { interactive: 0, guest: 0, layout: 0, background: 0 };
  #longInService = 0;
  /** The number of short entries that wait, including charged ones. */
  #shortWaiting = 0;
  /** The cost of all waiting entries. The sum is kept, because every refused request needs it. */
  #waitingWork = 0;
  #arrivals = 0;

  /** `maxWaiting` limits the entries with a waiting caller. Entries in the background are limited by their sender. */
  constructor(slots: SlotSource<Slot>, maxWaiting: number) {
    this.#slots = slots;
    this.#maxWaiting = maxWaiting;
  }

  get waiting(): number {
    return this.#charged.length + this.#foreground.waiting + this.#background.waiting;
  }

  /** Returns the waiting work in milliseconds of one slot. */
  get backlogMs(): number {
    return Math.round(this.#waitingWork);
  }

  /** Returns the number of accounts that the queue keeps track of. */
  get accounts(): number {
    return this.#sides.reduce((sum, { accounts }) => sum + accounts.size, 0);
  }

  /** Returns why an entry of this account would be refused now, as far as that is known without its cost. */
  refusal(account: string): AppError | undefined {
    return this.#isFull() && !this.#findEvictable(account) ? this.#overloaded() : undefined;
  }

  /** Throws `overloaded` at once if the queue is full. Otherwise resolves with a slot, which `release` gives back. */
  enter(entry: QueueEntry, signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    assertFinite(entry.cost);
    this.dispatch();
    if (this.#slots.free() > 0 && this.#mayServe(entry)) return Promise.resolve(this.#serve(entry));
    if (!entry.isCharged && !entry.hasYielded && entry.class !== 'background') this.#makeRoom(entry);
    return this.#wait(entry, signal);
  }

  /** Removes a waiting entry from the queue. */
  withdraw(entry: QueueEntry, reason: unknown): void {
    const waiters = entry.isCharged ? this.#charged : this.#accountOf(entry).waiters;
    const waiter = waiters.find((each) => each.entry === entry);
    if (waiter) this.#remove(waiter);
    waiter?.reject(reason);
    this.#forgetAccounts();
  }

  release(entry: QueueEntry, slot: Slot): void {
    this.#accountOf(entry).inService -= 1;
    this.#inService[entry.class] -= 1;
    if (entry.isLong) this.#longInService -= 1;
    this.#slots.giveBack(slot);
    this.dispatch();
    this.#forgetAccounts();
  }

  /** Marks an entry with a slot as long. Returns false if it has to leave the slot and wait. */
  becomeLong(entry: QueueEntry): boolean {
    if (!this.#mayServeLong()) return false;
    entry.isLong = true;
    this.#longInService += 1;
    return true;
  }

  /** Corrects the charge for an entry. */
  correct(entry: QueueEntry, difference: number): void {
    const { shares, waiting } = this.#sideOf(entry);
    if (this.#accountOf(entry).waiters.length === 0) shares.arrive(entry.account);
    // If nothing waits, this start took no worker from another account.
    if (waiting === 0 && difference > 0) shares.charge(entry.account, 0);
    this.settle(entry, difference);
  }

  /** Corrects the charge for an entry that is about to end, whatever was served meanwhile. */
  settle(entry: QueueEntry, difference: number): void {
    assertFinite(difference);
    const side = this.#sideOf(entry);
    // A forgotten account owes nothing.
    if (!side.accounts.has(entry.account)) return;
    side.shares.correct(entry.account, difference);
    if (entry.isContested) this.#shares.correct(side.name, difference / side.weight);
    this.#forgetAccounts();
  }

  /** Returns true if the account of an entry in service holds all slots while another account waits for one. */
  mustYield({ account, hasYielded = false }: QueueEntry): boolean {
    if (hasYielded || !this.#holdsAll(this.#inServiceOf(account))) return false;
    return this.#allWaiting().some(({ entry }) => entry.account !== account && this.#mayServe(entry));
  }

  /** Serves waiting entries while slots are free. Call it when the number of slots has grown. */
  dispatch(): void {
    while (this.waiting > 0 && this.#slots.free() > 0) {
      const next = this.#charged.find(({ entry }) => this.#mayServe(entry)) ?? this.#findNext();
      // The waiting entries have to leave the free slots to others.
      if (!next) return;
      const slot = this.#serve(next.entry);
      this.#remove(next);
      next.resolve(slot);
    }
  }

  rejectWaiting(reason: Error): void {
    for (const waiter of this.#allWaiting()) {
      this.#remove(waiter);
      waiter.reject(reason);
    }
    this.#forgetAccounts();
  }

  #allWaiting(): Waiter<Slot>[] {
    return [
      ...this.#charged,
      ...this.#sides.flatMap(({ accounts }) => [...accounts.values()].flatMap(({ waiters }) => waiters)),
    ];
  }

  #inServiceOf(account: string): number {
    return this.#sides.reduce((sum, { accounts }) => sum + (accounts.get(account)?.inService ?? 0), 0);
  }

  #holdsAll(count: number): boolean {
    return this.#slots.total() > 1 && count >= this.#slots.total();
  }

  #serve(entry: QueueEntry): Slot {
    const account = this.#accountOf(entry);
    account.inService += 1;
    this.#inService[entry.class] += 1;
    if (entry.isLong) this.#longInService += 1;
    if (!entry.isCharged) this.#charge(entry, account);
    return this.#slots.take(entry);
  }

  #charge(entry: QueueEntry, { waiters }: Account<Slot>): void {
    const side = this.#sideOf(entry);
    if (waiters.length === 0) side.shares.arrive(entry.account);
    side.shares.charge(entry.account, entry.cost);
    entry.isContested = this.#sides.some((other) => other !== side && other.waiting > 0);
    if (!entry.isContested) return;
    if (side.waiting === 0) this.#shares.arrive(side.name);
    this.#shares.charge(side.name, entry.cost / side.weight);
  }

  #wait(entry: QueueEntry, signal: AbortSignal): Promise<Slot> {
    return new Promise<Slot>((resolve, reject) => {
      const onAbort = (): void => this.withdraw(entry, signal.reason);
      const end = (): void => signal.removeEventListener('abort', onAbort);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#arrivals += 1;
      this.#add({
        entry,
        arrival: this.#arrivals,
        resolve: (slot) => {
          end();
          resolve(slot);
        },
        reject: (reason) => {
          end();
          reject(reason);
        },
      });
    });
  }

  #add(waiter: Waiter<Slot>): void {
    const { entry } = waiter;
    this.#waitingWork += entry.cost;
    if (!entry.isLong) this.#shortWaiting += 1;
    if (entry.isCharged) {
      this.#charged.push(waiter);
      return;
    }
    const side = this.#sideOf(entry);
    if (side.waiting === 0) this.#shares.arrive(side.name);
    const { waiters } = this.#accountOf(entry);
    if (waiters.length === 0) side.shares.arrive(entry.account);
    // An entry that gave its slot away waited before, so it is the next one of its account, and isn't evicted.
    waiters[entry.hasYielded ? 'unshift' : 'push'](waiter);
    side.waiting += 1;
  }

  #remove(waiter: Waiter<Slot>): void {
    const { entry } = waiter;
    const waiters = entry.isCharged ? this.#charged : this.#accountOf(entry).waiters;
    waiters.splice(waiters.indexOf(waiter), 1);
    if (!entry.isCharged) this.#sideOf(entry).waiting -= 1;
    if (!entry.isLong) this.#shortWaiting -= 1;
    // The work of an empty queue is exactly zero, so rounding errors don't add up.
    this.#waitingWork = this.waiting === 0 ? 0 : this.#waitingWork - entry.cost;
  }

  #sideOf({ class: leaseClass }: QueueEntry): Side<Slot> {
    return leaseClass === 'background' ? this.#background : this.#foreground;
  }

  #accountOf(entry: QueueEntry): Account<Slot> {
    const { accounts } = this.#sideOf(entry);
    const known = accounts.get(entry.account);
    if (known) return known;
    const account = { waiters: [], inService: 0 };
    accounts.set(entry.account, account);
    return account;
  }

  #forgetAccounts(): void {
    for (const { accounts, shares, waiting } of this.#sides) {
      for (const [name, { waiters, inService }] of accounts) {
        if (waiters.length === 0 && inService === 0 && shares.forget(name, waiting > 0)) accounts.delete(name);
      }
    }
  }

  #mayServe(entry: QueueEntry): boolean {
    const { class: leaseClass, isLong } = entry;
    if (this.#holdsAll(this.#inServiceOf(entry.account) + 1) && this.#hasGivenWay(entry)) return false;
    const isLimited = leaseClass === 'guest' || leaseClass === 'layout';
    if (isLimited && this.#inService[leaseClass] >= Math.max(1, Math.floor(this.#slots.total() / 2))) return false;
    return !isLong || this.#mayServeLong();
  }

  /** Returns true if a render of the account has given way and not started again. */
  #hasGivenWay(entry: QueueEntry): boolean {
    return entry.hasYielded === true || this.#accountOf(entry).waiters.some((waiter) => waiter.entry.hasYielded);
  }

  #mayServeLong(): boolean {
    return this.#longInService < this.#maxLong() && (this.#slots.forShort() > 0 || this.#shortWaiting === 0);
  }

  #maxLong(): number {
    return Math.max(1, this.#slots.total() - this.#slots.forShort());
  }

  #findNext(): Waiter<Slot> | undefined {
    const sides = this.#sides.toSorted((one, other) => this.#shares.tagOf(one.name) - this.#shares.tagOf(other.name));
    for (const side of sides) {
      const next = this.#findNextOf(side);
      if (next) return next;
    }
    return undefined;
  }

  /** Returns the entry whose account has the lowest tag. Among equals, the one that arrived first wins. */
  #findNextOf({ accounts, shares }: Side<Slot>): Waiter<Slot> | undefined {
    let next: Waiter<Slot> | undefined;
    let lowest = Number.POSITIVE_INFINITY;
    for (const [name, { waiters }] of accounts) {
      const tag = shares.tagOf(name);
      if (tag > lowest) continue;
      // An entry that has to leave the slot to others doesn't hold up the rest of its account.
      const first = waiters.find(({ entry }) => this.#mayServe(entry));
      if (!first || (next && tag === lowest && next.arrival < first.arrival)) continue;
      next = first;
      lowest = tag;
    }
    return next;
  }

  /** Refuses an entry that would wait too long. In a full queue, evicts an entry of the account that has the most. */
  #makeRoom(entry: QueueEntry): void {
    if (this.#expectedWaitMs(entry) > (entry.budgetMs - entry.cost) * MAX_WAIT_FRACTION) throw this.#overloaded();
    if (!this.#isFull()) return;
    const evicted = this.#findEvictable(entry.account);
    if (!evicted) throw this.#overloaded();
    this.withdraw(evicted.entry, this.#overloaded());
  }

  #isFull(): boolean {
    return this.#foreground.waiting >= this.#maxWaiting + Math.max(0, this.#slots.free());
  }

  /**
   * An entry waits for charged entries and for those with earlier start tags. A short one doesn't wait for long ones.
   */
  #expectedWaitMs({ account, isLong = false }: QueueEntry): number {
    const { accounts, shares } = this.#foreground;
    const counts = (other: QueueEntry): boolean => isLong || !other.isLong;
    const workOf = (waiters: readonly Waiter<Slot>[]): number =>
      waiters.reduce((sum, { entry }) => sum + (counts(entry) ? entry.cost : 0), 0);
    const ownStartTag = shares.tagOf(account) + workOf(accounts.get(account)?.waiters ?? []);
    let work = workOf(this.#charged);
    for (const [name, { waiters }] of accounts) {
      let startTag = shares.tagOf(name);
      for (const { entry } of waiters) {
        if (startTag > ownStartTag) break;
        if (counts(entry)) work += entry.cost;
        startTag += entry.cost;
      }
    }
    return work / Math.max(1, isLong ? this.#maxLong() : this.#slots.total());
  }

  /**
   * Returns the newest entry of the account with the most entries, unless the newcomer's account would then have as
   * many.
   */
  #findEvictable(newcomer: string): Waiter<Slot> | undefined {
    const { accounts } = this.#foreground;
    let longest: readonly Waiter<Slot>[] = [];
    for (const { waiters } of accounts.values()) if (waiters.length > longest.length) longest = waiters;
    const own = accounts.get(newcomer)?.waiters.length ?? 0;
    return longest.length > own + 1 ? longest.at(-1) : undefined;
  }

  #overloaded(): AppError {
    const seconds = Math.ceil(this.backlogMs / Math.max(1, this.#slots.total()) / 1_000);
    return new AppError('overloaded', 'Too many renders are waiting. Try again shortly.', {
      retryAfterSeconds: Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, seconds)),
    });
  }
}

function sideOf<Slot>(name: Side<Slot>['name'], weight: number): Side<Slot> {
  return { name, weight, accounts: new Map(), shares: new Shares(), waiting: 0 };
}

/** A single NaN would spread to every tag and end fairness for all accounts. */
function assertFinite(cost: number): void {
  if (!Number.isFinite(cost)) throw new RangeError(`The cost of a render must be a finite number; got ${cost}.`);
}
