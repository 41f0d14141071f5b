// Delivered files, kept for callers who ask for the same render again. A bounded replayCache: the oldest makes room for the new,
// and whatever is missing is simply rendered once more.

import { link, mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

const KEPT_MS = 24 * 3_600_000;

interface Kept {
  readonly bytes: number;
  readonly keptAt: number;
}

export class ReplayCache {
  readonly #directory: string;
  readonly #maxBytes: number;
  /** Oldest first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  private constructor(directory: string, maxBytes: number) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
  }

  /** The directory must be on the same disk as the files that are put here. */
  static async open(directory: string, maxBytes: number): Promise<ReplayCache> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const replayCache = new ReplayCache(directory, maxBytes);
    const files = await Promise.all(
      (await readdir(directory)).map(async (name) => ({ name, info: await stat(path.join(directory, name)) })),
    );
    for (const { name, info } of files.toSorted((a, b) => a.info.mtimeMs - b.info.mtimeMs)) {
      replayCache.#note(name, info.size, info.mtimeMs);
    }
    await replayCache.#makeRoom(0);
    return replayCache;
  }

  /** The path of a kept file. */
  find(renderId: string): string | undefined {
    return this.#kept.has(renderId) ? path.join(this.#directory, renderId) : undefined;
  }

  /** Keeps a second name for the file, at no cost; its own may be removed. */
  async keep(renderId: string, file: string): Promise<void> {
    const { size } = await stat(file);
    if (size > this.#maxBytes || this.#kept.has(renderId)) return;
    await this.#makeRoom(size);
    await link(file, path.join(this.#directory, renderId));
    this.#note(renderId, size, Date.now());
  }

  async removeExpired(): Promise<void> {
    await this.#makeRoom(0);
  }

  async #makeRoom(bytes: number): Promise<void> {
    const tooOld = Date.now() - KEPT_MS;
    for (const [name, { bytes: size, keptAt }] of [...this.#kept]) {
      if (keptAt >= tooOld && this.#bytes + bytes <= this.#maxBytes) break;
      this.#kept.delete(name);
      this.#bytes -= size;
      await rm(path.join(this.#directory, name), { force: true });
    }
  }

  #note(renderId: string, bytes: number, keptAt: number): void {
    this.#kept.set(renderId, { bytes, keptAt });
    this.#bytes += bytes;
  }
}
