// One directory per render, with names the server chooses, always removed afterwards. Several servers may share a root: each
// has an area of its own, with a lock file beside it that it rewrites regularly. A sweep removes the areas whose lock is
// stale, and earlier those whose process is known to be dead.

import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { pidNamespace } from '../../shared/pid-namespace.ts';
import { hasCode } from '../../shared/error-facts.ts';

const RETRY_REMOVE_MS = 2_000;
const LOCK = '.lock';
const LOCK_INTERVAL_MS = 30_000;
/** Generous, because sweeping the area of a server that only paused would fail its renders. */
const STALE_AFTER_MS = 600_000;

export interface WorkDirectory {
  readonly path: string;
  file(name: string): string;
  remove(): Promise<void>;
}

export interface LazyDirectory extends WorkDirectory {
  /** Creates the directory, unless that has been done already. */
  make(): Promise<void>;
}

export class WorkArea {
  readonly #root: string;
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;
  #maintenance: Promise<void> = Promise.resolve();

  private constructor(root: string, areaPath: string) {
    this.#root = root;
    this.#path = areaPath;
    this.#timer = setInterval(() => {
      this.#maintenance = this.#maintain();
    }, LOCK_INTERVAL_MS).unref();
  }

  /** A process can have several areas in one root, distinguished by the suffix. Sweeps areas that are no longer in use. */
  static async open(root: string, suffix = ''): Promise<WorkArea> {
    await mkdir(root, { recursive: true });
    await sweep(root);
    return new WorkArea(root, await createArea(root, `${process.pid}${suffix}`));
  }

  async directory(id: string): Promise<WorkDirectory> {
    const directory = this.lazyDirectory(id);
    await directory.make();
    return directory;
  }

  /** A directory that is created when it is first needed. Requests that are refused early never need theirs. */
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
          // This is synchronous, because a round trip through the thread pool takes many times as long. It is
          // recursive, because the area itself is gone if this process was paused for so long that another server swept
          // it.
          mkdirSync(directory, { recursive: true, mode: 0o700 });
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

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#maintenance;
    await removeArea(this.#path);
  }

  /** Never fails. Without a free file descriptor even removing fails, so it is retried later. */
  async #remove(directory: string, named: ReadonlySet<string>): Promise<void> {
    try {
      // The expected files go first, so that the directory is listed only for unexpected ones.
      await Promise.allSettled([...named].map((name) => unlink(path.join(directory, name))));
      await rmdir(directory).catch(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
    } catch {
      setTimeout(() => void this.#remove(directory, named), RETRY_REMOVE_MS).unref();
    }
  }

  /** Never fails. The next attempt makes up for a failed one, long before the lock is stale. */
  async #maintain(): Promise<void> {
    await writeLock(this.#path).catch(() => undefined);
    await sweep(this.#root).catch(() => undefined);
  }
}

/** A full disk or a lack of file descriptors is temporary, and neither the caller's fault nor a bug. */
export function rethrowAsStorageError(error: unknown): never {
  const message = 'The service cannot store the file right now. Try again shortly.';
  throw new AppError('storage_unavailable', message, { retryAfterSeconds: 5, cause: error });
}

async function createArea(root: string, name: string): Promise<string> {
  let area = path.join(root, name);
  try {
    await mkdir(area, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    // A process in another container has the same PID, or this one has opened an area already.
    area = path.join(root, `${name}-${randomUUID()}`);
    await mkdir(area, { mode: 0o700 });
  }
  await writeLock(area);
  return area;
}

async function writeLock(area: string): Promise<void> {
  await writeFile(lockOf(area), `${process.pid} ${pidNamespace() ?? ''}`);
}

/** Two servers may sweep at the same time. The next sweep removes what one of them can't. */
async function sweep(root: string): Promise<void> {
  const entries = await readdir(root);
  const areas = new Set(
    entries.map((name) => path.join(root, name.endsWith(LOCK) ? name.slice(0, -LOCK.length) : name)),
  );
  const namespace = pidNamespace();
  await Promise.allSettled(
    [...areas].map(async (area) => {
      if (await isAbandoned(area, namespace)) await removeArea(area);
    }),
  );
}

/** The lock goes first, because another server may use the name once the directory is gone. */
async function removeArea(area: string): Promise<void> {
  await rm(lockOf(area), { force: true });
  await rm(area, { recursive: true, force: true });
}

/** An area without a lock, as left by version 0.1, is judged by the age of its directory. */
async function isAbandoned(area: string, ownNamespace: string | undefined): Promise<boolean> {
  const lock = await readFile(lockOf(area), 'utf8').catch(() => undefined);
  const [pid, namespace] = lock?.split(' ') ?? [];
  if (ownNamespace !== undefined && namespace === ownNamespace && !isAlive(Number(pid))) return true;
  const { mtimeMs } = await stat(lock === undefined ? area : lockOf(area));
  return Date.now() - mtimeMs > STALE_AFTER_MS;
}

function lockOf(area: string): string {
  return `${area}${LOCK}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}
