// Requests whose handler is still running. A handler ends after its response, because it then charges the render and
// removes its directory. A server that stops waits for that. The sockets can't tell, because they are closed by then.

export class RunningRequests {
  readonly #running = new Set<Promise<unknown>>();

  get count(): number {
    return this.#running.size;
  }

  async run<Result>(handler: () => Promise<Result>): Promise<Result> {
    const running = handler();
    // The caller of `run` gets the error.
    const ended = running.then(
      () => undefined,
      () => undefined,
    );
    this.#running.add(ended);
    void ended.then(() => this.#running.delete(ended));
    return await running;
  }

  /** Resolves when all have ended, or after `maxMs`. Returns how many are still running. */
  async ended(maxMs: number): Promise<number> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, maxMs);
    });
    await Promise.race([Promise.all(this.#running), timeout]);
    clearTimeout(timer);
    return this.count;
  }
}
