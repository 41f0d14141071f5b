// Delivered files, kept so that a repeated idempotency key gets the same bytes. The cache is bounded: the oldest files
// are evicted first, and an evicted file is rendered again. Several servers may share the directory, so its content
// counts, not what this process remembers.

import { link, mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { rethrowAsStorageError } from '../../engine/media/work-area.ts';
import { hasCode } from '../../shared/error-facts.ts';

const MAX_AGE_MS = 24 * 3_600_000;
/** The directory is read again after this share of the limit was added. Each server may exceed the limit by as much. */
const EVICTION_SHARE = 0.1;

interface CachedFile {
  readonly file: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

export class ReplayCache {
  readonly #directory: string;
  readonly #maxBytes: number;
  /** The bytes that this process has added since it last read the directory. */
  #addedBytes = 0;

  private constructor(directory: string, maxBytes: number) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
  }

  /** The directory must be on the same disk as the files to keep and the places to restore them to. */
  static async open(directory: string, maxBytes: number): Promise<ReplayCache> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const cache = new ReplayCache(directory, maxBytes);
    await cache.#evict(0);
    return cache;
  }

  /**
   * Makes the kept file available at `file`, as a hard link. It stays there even when another server evicts it while it
   * is being sent. Returns false when the cache doesn't have it.
   */
  async restore(renderId: string, file: string): Promise<boolean> {
    try {
      await link(this.#pathOf(renderId), file);
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      rethrowAsStorageError(error);
    }
  }

  /** Keeps a hard link to the file, which takes no time or space. The file itself may be removed afterwards. */
  async keep(renderId: string, file: string): Promise<void> {
    const { size } = await stat(file);
    if (size > this.#maxBytes) return;
    const reserve = this.#maxBytes * EVICTION_SHARE;
    this.#addedBytes += size;
    if (this.#addedBytes > reserve) {
      this.#addedBytes = size;
      await this.#evict(Math.max(size, reserve));
    }
    try {
      await link(file, this.#pathOf(renderId));
    } catch (error) {
      // Another server has rendered and kept the same request.
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }

  async removeExpired(): Promise<void> {
    await this.#evict(0);
  }

  /** Removes expired files, and the oldest ones until `freeBytes` are left below the limit. */
  async #evict(freeBytes: number): Promise<void> {
    const files = (await this.#list()).toSorted((a, b) => a.modifiedAt - b.modifiedAt);
    const expiredBefore = Date.now() - MAX_AGE_MS;
    let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { file, bytes, modifiedAt } of files) {
      if (modifiedAt >= expiredBefore && total + freeBytes <= this.#maxBytes) break;
      await rm(file, { force: true });
      total -= bytes;
    }
  }

  async #list(): Promise<CachedFile[]> {
    const names = await readdir(this.#directory);
    const files = await Promise.all(names.map(async (name) => await describeFile(this.#pathOf(name))));
    return files.filter((file) => file !== undefined);
  }

  #pathOf(renderId: string): string {
    return path.join(this.#directory, renderId);
  }
}

/** Returns undefined when another server has just removed it. */
async function describeFile(file: string): Promise<CachedFile | undefined> {
  try {
    const { size, mtimeMs } = await stat(file);
    return { file, bytes: size, modifiedAt: mtimeMs };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
