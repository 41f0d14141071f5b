// One directory per render, with names we choose, always removed. Each server process has its own area under the root, so
// a new one can sweep what a killed one left behind without touching its neighbours.

import { mkdirSync } from 'node:fs';
import { mkdir, readdir, rm, rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '../errors.ts';

const REMOVE_AGAIN_MS = 2_000;

export interface WorkDirectory {
  readonly path: string;
  file(name: string): string;
  remove(): Promise<void>;
}

export interface LazyDirectory extends WorkDirectory {
  /** Once, however often it is asked for. */
  make(): Promise<void>;
}

export class WorkArea {
  readonly #path: string;

  private constructor(areaPath: string) {
    this.#path = areaPath;
  }

  /** A process can have several in one root, told apart by the suffix. */
  static async open(root: string, suffix = ''): Promise<WorkArea> {
    await mkdir(root, { recursive: true });
    const names = await readdir(root);
    const abandoned = names.filter((name) => !isAlive(Number.parseInt(name, 10)));
    await Promise.all(abandoned.map((name) => rm(path.join(root, name), { recursive: true, force: true })));
    const areaPath = path.join(root, `${process.pid}${suffix}`);
    await rm(areaPath, { recursive: true, force: true });
    await mkdir(areaPath, { recursive: true, mode: 0o700 });
    return new WorkArea(areaPath);
  }

  async directory(id: string): Promise<WorkDirectory> {
    const directory = this.lazyDirectory(id);
    await directory.make();
    return directory;
  }

  /** One that is made when it is needed, which it is not for whoever is refused at the entry point. */
  lazyDirectory(id: string): LazyDirectory {
    const directory = path.join(this.#path, id);
    const named = new Set<string>();
    let made = false;
    return {
      path: directory,
      file: (name) => {
        named.add(name);
        return path.join(directory, name);
      },
      make: async () => {
        if (made) return;
        try {
          // In place: a turn through the thread pool takes many times as long.
          mkdirSync(directory, { mode: 0o700 });
          made = true;
        } catch (error) {
          rethrowAsStorageError(error);
        }
      },
      remove: async () => {
        if (made) await this.#remove(directory, named);
      },
    };
  }

  /** Never fails: without a free descriptor not even removing works, and what could not be removed now is later. */
  async #remove(directory: string, named: ReadonlySet<string>): Promise<void> {
    try {
      // What is expected to be there goes first; looking around is only for what is not.
      await Promise.allSettled([...named].map((name) => unlink(path.join(directory, name))));
      await rmdir(directory).catch(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
    } catch {
      setTimeout(() => void this.#remove(directory, named), REMOVE_AGAIN_MS).unref();
    }
  }

  async close(): Promise<void> {
    await rm(this.#path, { recursive: true, force: true });
  }
}

/** A full disk or a lack of descriptors is neither the caller's fault nor a bug: it passes. */
export function rethrowAsStorageError(error: unknown): never {
  const message = 'The service cannot store the file right now. Try again shortly.';
  throw new AppError('storage_unavailable', message, { retryAfterSeconds: 5, cause: error });
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
