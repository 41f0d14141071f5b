// Which segments of a video nobody is at, which are done, and which take suspiciously long. Decides only; the clock is given.

interface Entry {
  readonly frames: number;
  /** How many are at it. */
  hands: number;
  since: number;
  isDone: boolean;
}

/** As long as twice what the others took may be chance. */
const SLOW = 2;
/** Nor is anything suspicious before that. */
const LEAST_MS = 2_000;

export class SegmentBoard {
  readonly #entries: readonly Entry[];
  /** Of each that is done, milliseconds for a frame. */
  readonly #paces: number[] = [];

  constructor(frames: readonly number[]) {
    this.#entries = frames.map((count) => ({ frames: count, hands: 0, since: 0, isDone: false }));
  }

  get isComplete(): boolean {
    return this.#entries.every(({ isDone }) => isDone);
  }

  /** The next that nobody is at. */
  take(now: number): number | undefined {
    return this.#takeFirst(({ hands }) => hands === 0, now);
  }

  /** One that somebody is at, alone and for too long, measured by those that are done: a second one may be faster. */
  takeSlow(now: number): number | undefined {
    if (this.#paces.length === 0) return undefined;
    const usual = median(this.#paces);
    const isSlow = ({ frames, hands, since }: Entry): boolean =>
      hands === 1 && now - since > Math.max(LEAST_MS, SLOW * usual * frames);
    return this.#takeFirst(isSlow, now);
  }

  /** Whoever was at it has given up. */
  giveBack(index: number): void {
    const entry = this.#entries[index];
    if (entry && !entry.isDone) entry.hands -= 1;
  }

  /** False when somebody was faster. */
  finish(index: number, tookMs: number): boolean {
    const entry = this.#entries[index];
    if (entry === undefined || entry.isDone) return false;
    entry.isDone = true;
    this.#paces.push(tookMs / Math.max(1, entry.frames));
    return true;
  }

  #takeFirst(suits: (entry: Entry) => boolean, now: number): number | undefined {
    const index = this.#entries.findIndex((entry) => !entry.isDone && suits(entry));
    const entry = this.#entries[index];
    if (entry === undefined) return undefined;
    entry.hands += 1;
    entry.since = now;
    return index;
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
