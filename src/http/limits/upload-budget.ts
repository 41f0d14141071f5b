// How many bytes may be on their way to our disk at once. Known before an upload begins, so that nobody uploads in vain.

import { statfs } from 'node:fs/promises';
import { AppError } from '../../errors.ts';
import { rethrowAsStorageError } from '../../media/work-area.ts';

const RETRY_AFTER_SECONDS = 5;
/** A result is about as large as its asset, and others need room too. */
const SPARE_BYTES = 256 * 1024 * 1024;
const DISK_CHECK_MS = 1_000;

export class UploadBudget {
  readonly #directory: string;
  readonly #maxBytes: number;
  #promised = 0;
  /** The last look at the disk; whoever comes while it is under way waits for it. */
  #free: Promise<number> = Promise.resolve(Number.POSITIVE_INFINITY);
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(directory: string, maxBytes: number) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
  }

  get promisedBytes(): number {
    return this.#promised;
  }

  /** Sets bytes aside for one upload; the returned function gives them back, once. */
  async promise(bytes: number): Promise<() => void> {
    const free = await this.#look();
    // A single upload within its plan is always possible when nothing else is under way.
    const tooMany = this.#promised > 0 && this.#promised + bytes > this.#maxBytes;
    if (tooMany || this.#promised + bytes + SPARE_BYTES > free) {
      throw new AppError('storage_unavailable', 'Too many uploads are under way. Try again shortly.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    this.#promised += bytes;
    let open = true;
    return () => {
      if (open) this.#promised -= bytes;
      open = false;
    };
  }

  async #look(): Promise<number> {
    const now = performance.now();
    if (now - this.#checkedAt > DISK_CHECK_MS) {
      this.#checkedAt = now;
      this.#free = statfs(this.#directory).then(({ bavail, bsize }) => bavail * bsize);
    }
    return await this.#free.catch(rethrowAsStorageError);
  }
}
