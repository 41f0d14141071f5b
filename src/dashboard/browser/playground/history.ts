// Undo and redo: the states before and after the current one. Changes of the same field in quick succession are one step, so
// undo removes a phrase and not a letter.

const MAX_STEPS = 200;
const MERGE_MS = 1_000;

export class EditHistory<State> {
  #past: State[] = [];
  #future: State[] = [];
  #current: State;
  #merge: { readonly key: string; readonly at: number } | undefined;
  readonly #now: () => number;

  constructor(initial: State, now: () => number = () => performance.now()) {
    this.#current = initial;
    this.#now = now;
  }

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  get canRedo(): boolean {
    return this.#future.length > 0;
  }

  /** Changes with the same key merge into one step. An unchanged state adds none. */
  record(state: State, key?: string): void {
    if (JSON.stringify(state) === JSON.stringify(this.#current)) return;
    const at = this.#now();
    const merges = key !== undefined && this.#merge?.key === key && at - this.#merge.at < MERGE_MS;
    if (!merges) this.#past = [...this.#past, this.#current].slice(-MAX_STEPS);
    this.#future = [];
    this.#current = state;
    this.#merge = key === undefined ? undefined : { key, at };
  }

  /** Returns undefined if there is nothing to undo. */
  undo(): State | undefined {
    return this.#step(this.#past, this.#future);
  }

  redo(): State | undefined {
    return this.#step(this.#future, this.#past);
  }

  #step(from: State[], to: State[]): State | undefined {
    const state = from.pop();
    if (state === undefined) return undefined;
    to.push(this.#current);
    this.#current = state;
    this.#merge = undefined;
    return state;
  }
}
