// Start-time fair queueing (Goyal, Vin and Cheng, 1996): those who share something get equal parts of it by cost. The start
// tag of an entry is its sharer's tag, which its cost then moves forward; the entry with the lowest start tag goes first. The
// virtual time is the start tag of the entry served last. A sharer that comes back starts there, so it can't make up for
// the time in which it wanted nothing.

export class Shares {
  readonly #tags = new Map<string, number>();
  #virtualTime = 0;

  /** The start tag of the sharer's next entry. */
  tagOf(sharer: string): number {
    return this.#tags.get(sharer) ?? this.#virtualTime;
  }

  /** Call before `charge` and `correct`, unless the sharer has been waiting: one that waits keeps its tag. */
  arrive(sharer: string): void {
    this.#tags.set(sharer, Math.max(this.tagOf(sharer), this.#virtualTime));
  }

  /** An entry of the sharer is served. */
  charge(sharer: string, cost: number): void {
    this.#virtualTime = Math.max(this.#virtualTime, this.tagOf(sharer));
    this.correct(sharer, cost);
  }

  /** An entry served before costs more or less than was charged for it. */
  correct(sharer: string, difference: number): void {
    this.#tags.set(sharer, this.tagOf(sharer) + difference);
  }

  /** Forgets a sharer that wants nothing now. False while others wait and it would have to wait for them. */
  forget(sharer: string, doOthersWait: boolean): boolean {
    if (doOthersWait && this.tagOf(sharer) > this.#virtualTime) return false;
    this.#tags.delete(sharer);
    return true;
  }
}
