// Start-time fair queueing (Goyal, Vin and Cheng, 1996): sharers get equal parts by cost. The start tag of an entry is
// its sharer's tag, which its cost then advances. The entry with the lowest start tag goes first. The virtual time is
// the start tag of the entry served last. A sharer that comes back starts there, so it can't make up for the time in
// which it wanted nothing.

export class Shares {
  readonly #tags = new Map<string, number>();
  #virtualTime = 0;

  /** Returns the start tag of the sharer's next entry. */
  tagOf(sharer: string): number {
    return this.#tags.get(sharer) ?? this.#virtualTime;
  }

  /** Call this before `charge` and `correct`, unless the sharer has been waiting. A waiting sharer keeps its tag. */
  arrive(sharer: string): void {
    this.#tags.set(sharer, Math.max(this.tagOf(sharer), this.#virtualTime));
  }

  /** Charges the sharer for an entry that is served. */
  charge(sharer: string, cost: number): void {
    this.#virtualTime = Math.max(this.#virtualTime, this.tagOf(sharer));
    this.correct(sharer, cost);
  }

  /** Corrects the charge for an entry that was served before. */
  correct(sharer: string, difference: number): void {
    this.#tags.set(sharer, this.tagOf(sharer) + difference);
  }

  /** Forgets a sharer that wants nothing now. Returns false while others wait and it would have to wait for them. */
  forget(sharer: string, doOthersWait: boolean): boolean {
    if (doOthersWait && this.tagOf(sharer) > this.#virtualTime) return false;
    this.#tags.delete(sharer);
    return true;
  }
}
