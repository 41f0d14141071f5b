// Local copies of files that renders need again and again, such as fonts. A file is fetched once, however many renders want it
// at the same time, and forgotten when it hasn't been used for a while.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, unlink } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { RenderFile } from './render-file.ts';
import { rethrowAsStorageError, type WorkArea, type WorkDirectory } from './work-area.ts';

export type CachedFile = Pick<RenderFile, 'sha256' | 'bytes'>;

interface Entry extends CachedFile {
  readonly path: Promise<string>;
  users: number;
  usedAt: number;
}

export interface FileCacheOptions {
  /** Unused files are forgotten when they take more space together. */
  readonly maxUnusedBytes?: number;
  readonly maxIdleMs?: number;
}

const MAX_UNUSED_BYTES = 64 * 1024 * 1024;
const MAX_IDLE_MS = 600_000;

export class FileCache {
  readonly #workArea: Pick<WorkArea, 'directory'>;
  readonly #options: Required<FileCacheOptions>;
  readonly #entries = new Map<string, Entry>();
  readonly #timer: NodeJS.Timeout;
  #directory: Promise<WorkDirectory> | undefined;
  #copies = 0;

  constructor(workArea: Pick<WorkArea, 'directory'>, options: FileCacheOptions = {}) {
    this.#workArea = workArea;
    this.#options = { maxUnusedBytes: MAX_UNUSED_BYTES, maxIdleMs: MAX_IDLE_MS, ...options };
    this.#timer = setInterval(() => this.#forgetUnused(), this.#options.maxIdleMs / 2).unref();
  }

  /** The number of files that are held, whether in use or not. */
  get size(): number {
    return this.#entries.size;
  }

  /** Holds a file while `use` runs. `fetch` writes it to a path where nothing is yet. */
  async with<Result>(
    file: CachedFile,
    fetch: (path: string) => Promise<void>,
    use: (path: string) => Promise<Result>,
  ): Promise<Result> {
    const { entry, path } = await this.#hold(file, fetch);
    try {
      return await use(path);
    } finally {
      this.#release(entry);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#entries.clear();
    await (await this.#directory)?.remove();
  }

  /**
   * A copy is gone if this process was paused for so long that another one swept it. If the fetch of another render failed, this
   * one tries it again.
   */
  async #hold(
    file: CachedFile,
    fetch: (path: string) => Promise<void>,
  ): Promise<{ readonly entry: Entry; readonly path: string }> {
    for (;;) {
      const known = this.#entries.get(file.sha256);
      const entry = known ?? this.#add(file, fetch);
      entry.users += 1;
      try {
        const path = await entry.path;
        if (known) await access(path);
        return { entry, path };
      } catch (error) {
        this.#release(entry);
        if (this.#entries.get(file.sha256) === entry) this.#entries.delete(file.sha256);
        if (!known) throw error;
      }
    }
  }

  #release(entry: Entry): void {
    entry.users -= 1;
    entry.usedAt = performance.now();
    this.#forgetUnused();
  }

  #add(file: CachedFile, fetch: (path: string) => Promise<void>): Entry {
    const entry: Entry = { ...file, path: this.#fetch(file, fetch), users: 0, usedAt: performance.now() };
    this.#entries.set(file.sha256, entry);
    return entry;
  }

  async #fetch({ sha256, bytes }: CachedFile, fetch: (path: string) => Promise<void>): Promise<string> {
    this.#directory ??= this.#workArea.directory('files');
    this.#copies += 1;
    const path = (await this.#directory).file(`${sha256}-${this.#copies}`);
    await fetch(path);
    const found = await hashOf(path).catch(rethrowAsStorageError);
    if (found.sha256 === sha256 && found.bytes === bytes) return path;
    await unlink(path).catch(() => undefined);
    return rethrowAsStorageError(new Error(`file ${sha256} doesn't match its hash`));
  }

  #forgetUnused(): void {
    const unused = [...this.#entries.values()]
      .filter(({ users }) => users === 0)
      .toSorted((a, b) => b.usedAt - a.usedAt);
    let bytes = 0;
    for (const entry of unused) {
      bytes += entry.bytes;
      const isIdle = performance.now() - entry.usedAt > this.#options.maxIdleMs;
      if (!isIdle && bytes <= this.#options.maxUnusedBytes) continue;
      this.#entries.delete(entry.sha256);
      // A copy that can't be removed goes with the directory.
      void entry.path.then(async (path) => await unlink(path)).catch(() => undefined);
    }
  }
}

async function hashOf(path: string): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(
    createReadStream(path),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    },
    hash,
  );
  return { sha256: hash.digest('hex'), bytes };
}
