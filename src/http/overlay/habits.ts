// What an account has sent lately, and so will send next. Images and videos have workers of their own, and which of them a
// request needs is known only from its body; for a crowd of images, reading that far costs more than the refusal.

import type { AssetKind } from '../../media/sniff.ts';

/** So many of one kind in a row make a habit. */
const HABIT = 20;
/** A habit is forgotten when it was not seen for so long. */
const LATELY_MS = 5_000;
/** One of so many is let in all the same: habits change. */
const EXCEPTION = 8;
const MOST_ACCOUNTS = 10_000;

interface Habit {
  readonly kind: AssetKind;
  inARow: number;
  seenAt: number;
  guesses: number;
}

export class Habits {
  readonly #habits = new Map<string, Habit>();
  readonly #clock: () => number;

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  note(account: string, kind: AssetKind): void {
    const now = this.#clock();
    const habit = this.#habits.get(account);
    if (habit?.kind === kind && now - habit.seenAt < LATELY_MS) {
      habit.inARow += 1;
      habit.seenAt = now;
      return;
    }
    if (this.#habits.size >= MOST_ACCOUNTS) this.#habits.clear();
    this.#habits.set(account, { kind, inARow: 1, seenAt: now, guesses: 0 });
  }

  /** Undefined when it could be either. */
  guess(account: string): AssetKind | undefined {
    const habit = this.#habits.get(account);
    if (habit === undefined || habit.inARow < HABIT || this.#clock() - habit.seenAt >= LATELY_MS) return undefined;
    habit.guesses += 1;
    return habit.guesses % EXCEPTION === 0 ? undefined : habit.kind;
  }
}
