// A number of slots and a bounded, fair queue in front of them. Accounts share the slots by what their renders cost, not by
// how many they send: each render gets a start and an end on a clock that only counts work, an account's next render starts
// where its last one ended, and the earliest start goes first. When the queue is full, the account that fills it most makes
// room; who would wait longer than they can is told so at once instead of being answered too late.

import { AppError } from '../errors.ts';

/** Who waits, and for what. */
export interface QueueEntry {
  readonly account: string;
  /** Estimated milliseconds of work. */
  readonly cost: number;
  /** The longest wait and work together that still make sense. */
  readonly budgetMs: number;
  /** Served before everyone else and never turned away: a second try, or the rest of what has waited already. */
  readonly isRetry?: boolean;
}

interface Waiter<Item> {
  readonly turn: QueueEntry;
  readonly start: number;
  readonly resolve: (item: Item) => void;
  readonly reject: (reason: Error) => void;
}

const MOST_SECONDS_TO_WAIT = 60;
/** So long a place is kept for somebody who uploads; who is slower takes his chance again. */
const EXPECTED_MS = 2_000;
/** Of the time that is left for waiting, how much an estimate may fill: a wrong one must not end in an answer too late. */
const WAIT_SHARE = 0.6;

export class FairQueue<Item> {
  readonly #free: Item[] = [];
  readonly #urgent: Waiter<Item>[] = [];
  /** In no order; the queue is short. */
  readonly #waiters = new Set<Waiter<Item>>();
  /** Who was told that there is room and still uploads, the oldest first. */
  readonly #expected: { readonly account: string; readonly at: number }[] = [];
  /** Where each account's last render ends on the clock of work. */
  readonly #endOf = new Map<string, number>();
  readonly #maxWaiting: number;
  readonly #slots: () => number;
  #clock = 0;

  /** `slots` is a function where their number changes. */
  constructor(slots: number | (() => number), maxWaiting: number) {
    this.#slots = () => Math.max(1, typeof slots === 'number' ? slots : slots());
    this.#maxWaiting = maxWaiting;
  }

  get waiting(): number {
    return this.#waiters.size + this.#urgent.length;
  }

  get free(): number {
    return this.#free.length;
  }

  /** Work that waits, in milliseconds of one slot. */
  get backlogMs(): number {
    let sum = 0;
    for (const { turn } of this.#waiters) sum += turn.cost;
    return sum;
  }

  /** Makes an item available: a new one, or one that comes back. */
  put(item: Item): void {
    const next = this.#urgent.shift() ?? this.#earliest();
    if (next === undefined) {
      this.#free.push(item);
      return;
    }
    this.#waiters.delete(next);
    if (!next.turn.isRetry) this.#clock = Math.max(this.#clock, next.start);
    if (this.#waiters.size === 0) this.#forgetPast();
    next.resolve(item);
  }

  /** Forgets an item that died while it was free. */
  drop(item: Item): void {
    const index = this.#free.indexOf(item);
    if (index >= 0) this.#free.splice(index, 1);
  }

  /** Whether somebody of this account would be let in now; asked before an upload, so that none is made in vain. */
  assertRoom(account: string): void {
    this.#forgetLate();
    const taken = this.#waiters.size + this.#expected.length;
    if (taken < this.#maxWaiting + this.#free.length) return;
    if (!this.#hasLessThanOthers(account)) throw this.#overloaded();
  }

  /** The same, and keeps the place: of a crowd that finds the same room, only as many may upload as will find it. */
  expect(account: string): void {
    this.assertRoom(account);
    this.#expected.push({ account, at: performance.now() });
  }

  async take(signal: AbortSignal, turn: QueueEntry): Promise<Item> {
    signal.throwIfAborted();
    this.#welcome(turn.account);
    const item = this.#free.pop();
    if (item !== undefined) {
      this.#enter(turn);
      return item;
    }
    if (!turn.isRetry) this.#makeRoom(turn);
    return await new Promise<Item>((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.delete(waiter);
        const index = this.#urgent.indexOf(waiter);
        if (index >= 0) this.#urgent.splice(index, 1);
      };
      const onAbort = (): void => {
        leave();
        reject(signal.reason as Error);
      };
      const settled = (): void => signal.removeEventListener('abort', onAbort);
      const waiter: Waiter<Item> = {
        turn,
        start: turn.isRetry ? 0 : this.#enter(turn),
        resolve: (taken) => {
          settled();
          resolve(taken);
        },
        reject: (reason) => {
          settled();
          reject(reason);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      if (turn.isRetry) this.#urgent.push(waiter);
      else this.#waiters.add(waiter);
    });
  }

  /** What an account's render costs beyond the guess it waited with; less than nothing is given back. */
  adjustCost(account: string, cost: number): void {
    this.#endOf.set(account, Math.max(this.#clock, (this.#endOf.get(account) ?? this.#clock) + cost));
  }

  /** Turns everyone who waits away. */
  rejectWaiting(reason: Error): void {
    const all = [...this.#urgent.splice(0), ...this.#waiters];
    this.#waiters.clear();
    for (const waiter of all) waiter.reject(reason);
  }

  /** The start of a render on the clock of work; books its end. */
  #enter({ account, cost, isRetry }: QueueEntry): number {
    if (isRetry) return 0;
    const start = Math.max(this.#clock, this.#endOf.get(account) ?? 0);
    this.#endOf.set(account, start + cost);
    return start;
  }

  #makeRoom(turn: QueueEntry): void {
    const start = Math.max(this.#clock, this.#endOf.get(turn.account) ?? 0);
    let ahead = 0;
    for (const waiter of this.#urgent) ahead += waiter.turn.cost;
    for (const waiter of this.#waiters) if (waiter.start <= start) ahead += waiter.turn.cost;
    if (ahead / this.#slots() > (turn.budgetMs - turn.cost) * WAIT_SHARE) throw this.#overloaded();
    if (this.#waiters.size < this.#maxWaiting) return;
    const last = this.#fullest(turn.account);
    if (last === undefined) throw this.#overloaded();
    this.#waiters.delete(last);
    this.#endOf.set(last.turn.account, last.start);
    last.reject(this.#overloaded());
  }

  /** The newest waiter of the account with the most of them, if that is more than the newcomer's would then have. */
  #fullest(newcomer: string): Waiter<Item> | undefined {
    const counts = countOf([...this.#waiters].map(({ turn }) => turn));
    const [account, most] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0]);
    if (most <= (counts.get(newcomer) ?? 0) + 1) return undefined;
    return [...this.#waiters].findLast(({ turn }) => turn.account === account);
  }

  #hasLessThanOthers(account: string): boolean {
    const counts = countOf([...this.#waiters].map(({ turn }) => turn));
    const own = (counts.get(account) ?? 0) + (countOf(this.#expected).get(account) ?? 0);
    return Math.max(0, ...counts.values()) > own + 1;
  }

  /** Whom we expected has come. */
  #welcome(account: string): void {
    const index = this.#expected.findIndex((one) => one.account === account);
    if (index >= 0) this.#expected.splice(index, 1);
  }

  #forgetLate(): void {
    const due = performance.now() - EXPECTED_MS;
    while ((this.#expected[0]?.at ?? Number.POSITIVE_INFINITY) < due) this.#expected.shift();
  }

  #earliest(): Waiter<Item> | undefined {
    let first: Waiter<Item> | undefined;
    for (const waiter of this.#waiters) if (first === undefined || waiter.start < first.start) first = waiter;
    return first;
  }

  /** An empty queue owes nobody anything; what lies behind the clock says nothing any more. */
  #forgetPast(): void {
    for (const [account, end] of this.#endOf) if (end <= this.#clock) this.#endOf.delete(account);
  }

  #overloaded(): AppError {
    const seconds = Math.ceil(this.backlogMs / this.#slots() / 1_000);
    return new AppError('overloaded', 'The service has more to render than it can. Try again shortly.', {
      retryAfterSeconds: Math.min(MOST_SECONDS_TO_WAIT, Math.max(1, seconds)),
    });
  }
}

function countOf(all: readonly { readonly account: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { account } of all) counts.set(account, (counts.get(account) ?? 0) + 1);
  return counts;
}
