// One state for a whole page. Every change goes through `update`, and views draw themselves from the state they watch.

export class StateStore<State extends object> {
  #state: State;
  readonly #watchers: (() => void)[] = [];

  constructor(state: State) {
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  update(changes: Partial<State>): void {
    this.#state = { ...this.#state, ...changes };
    for (const notify of this.#watchers) notify();
  }

  /** Calls `draw` now, and whenever one of these parts of the state was replaced. It may update the state itself. */
  watch(parts: readonly (keyof State)[], draw: (state: State) => void): void {
    let seen: Partial<State> = {};
    const notify = (isFirst: boolean): void => {
      const state = this.#state;
      if (!isFirst && parts.every((part) => seen[part] === state[part])) return;
      seen = state;
      draw(state);
    };
    this.#watchers.push(() => notify(false));
    notify(true);
  }
}
