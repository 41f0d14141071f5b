// Objects as files of one directory. A file is written under a temporary name, flushed and renamed, so that its final
// name never shows a partial file. Several servers may share the directory.

import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, mkdir, open, opendir, rename, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { rethrowAsStorageError } from '../../engine/media/work-area.ts';
import { hasCode } from '../../shared/error-facts.ts';
import {
  assertObjectName,
  type ObjectEntry,
  type ObjectRange,
  type ObjectStorage,
  type StoredObject,
} from './object-storage.ts';

const TEMPORARY = '.tmp';
/** A temporary file this old was left by a crash. */
const STALE_AFTER_MS = 24 * 3_600_000;
const READ_BYTES = 256 * 1024;

export class FileStorage implements ObjectStorage {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  static async open(root: string): Promise<FileStorage> {
    await mkdir(root, { recursive: true, mode: 0o700 });
    return new FileStorage(root);
  }

  async put(name: string, file: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const target = this.#pathOf(name);
    const temporary = `${target}.${randomUUID()}${TEMPORARY}`;
    try {
      await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
      await linkOrCopy(file, temporary);
      await flush(temporary);
      await rename(temporary, target);
      // If both names are links to the same file, `rename` leaves the temporary one.
      await rm(temporary, { force: true });
      await flush(path.dirname(target));
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      rethrowAsStorageError(error);
    }
  }

  async copyTo(name: string, file: string, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const source = this.#pathOf(name);
    try {
      await linkOrCopy(source, file);
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      return rethrowAsStorageError(error);
    }
  }

  async size(name: string): Promise<number | undefined> {
    const source = this.#pathOf(name);
    try {
      return (await stat(source)).size;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      return rethrowAsStorageError(error);
    }
  }

  async get(name: string, range?: ObjectRange): Promise<StoredObject | undefined> {
    const source = this.#pathOf(name);
    try {
      const handle = await open(source, 'r');
      const { size } = await handle.stat();
      const options = { highWaterMark: READ_BYTES, ...(range && { start: range.start, end: range.end }) };
      return { bytes: size, body: handle.createReadStream(options) };
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      return rethrowAsStorageError(error);
    }
  }

  async delete(name: string): Promise<void> {
    const source = this.#pathOf(name);
    try {
      await unlink(source);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) rethrowAsStorageError(error);
    }
  }

  /** Lists the objects. Also removes temporary files that a crash left behind. */
  async *list(folder: string): AsyncGenerator<ObjectEntry> {
    const directory = path.join(this.#root, folder);
    try {
      for await (const { name } of await opendir(directory)) {
        const modifiedAt = await modificationTime(path.join(directory, name));
        if (modifiedAt === undefined) continue;
        if (!name.endsWith(TEMPORARY)) yield { name: `${folder}/${name}`, modifiedAt };
        else if (Date.now() - modifiedAt.getTime() > STALE_AFTER_MS)
          await rm(path.join(directory, name), { force: true });
      }
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) rethrowAsStorageError(error);
    }
  }

  close(): void {
    // Nothing stays open between two operations.
  }

  #pathOf(name: string): string {
    assertObjectName(name);
    return path.join(this.#root, name);
  }
}

/** A hard link takes no time or space. The program never changes a file after it is complete. */
async function linkOrCopy(file: string, target: string): Promise<void> {
  try {
    await link(file, target);
  } catch (error) {
    // The target is on another file system, or on one without hard links.
    if (!hasCode(error, 'EXDEV', 'EPERM', 'ENOTSUP')) throw error;
    await copyFile(file, target, constants.COPYFILE_EXCL);
  }
}

async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns undefined when another server has just removed it. */
async function modificationTime(file: string): Promise<Date | undefined> {
  try {
    return (await stat(file)).mtime;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
