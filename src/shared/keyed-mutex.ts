// Runs tasks with the same key one after the other. Tasks with different keys run side by side.

export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const previous = this.#last.get(key) ?? Promise.resolve();
    // A failed task must not keep the next one from running.
    const current = previous.then(task, task);
    const settled = current.catch(() => undefined);
    this.#last.set(key, settled);
    try {
      return await current;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }
}
