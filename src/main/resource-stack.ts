// What has been opened so far, closed in reverse: whoever opened last may still use what was there before. A start that
// fails half way leaves nothing running behind, and so the program ends.

interface Closable {
  close(): Promise<void>;
}

export class ResourceStack {
  readonly #parts: Closable[] = [];

  add<Part extends Closable>(part: Part): Part {
    this.#parts.push(part);
    return part;
  }

  async close(): Promise<void> {
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) await part.close();
  }
}
