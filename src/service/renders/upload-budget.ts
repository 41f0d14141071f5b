// Limits the bytes that running requests keep on disk, uploads and results together, and the duration of one upload. An
// upload of announced size is reserved before it starts. One of unknown size (chunked) reserves more as its bytes
// arrive.

import { statfs } from 'node:fs/promises';
import { AppError } from '../../shared/errors.ts';
import { rethrowAsStorageError } from '../../engine/media/work-area.ts';

const RETRY_AFTER_SECONDS = 5;
/** Disk space that stays free for everything else. */
export const SPARE_BYTES = 256 * 1024 * 1024;
const DISK_CHECK_MS = 1_000;
/** How much an upload of unknown size reserves at a time. */
const STEP_BYTES = 4 * 1024 * 1024;

/** The disk space of one request. */
export interface DiskReservation {
  /** Reserves more when the upload has grown beyond its reservation. Throws when the budget is used up. */
  grow(uploadedBytes: number): void;
  /** Counts the result. Never throws, because the result exists already. Later uploads wait for the space instead. */
  addResult(bytes: number): void;
  /** Returns the space. Does nothing the second time. */
  release(): void;
}

export interface UploadLimits {
  /** The limit of all running requests together. */
  readonly maxBytes: number;
  /** The limit of one upload. */
  readonly maxSeconds: number;
}

export class UploadBudget {
  readonly maxSeconds: number;
  readonly #directory: string;
  readonly #maxBytes: number;
  #reserved = 0;
  #freeBytes = Number.POSITIVE_INFINITY;
  #check: Promise<void> = Promise.resolve();
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(directory: string, { maxBytes, maxSeconds }: UploadLimits) {
    this.maxSeconds = maxSeconds;
    this.#directory = directory;
    this.#maxBytes = maxBytes;
  }

  get reservedBytes(): number {
    return this.#reserved;
  }

  /** `announcedBytes` is the size of the upload, or undefined if the client did not send it. */
  async reserve(announcedBytes: number | undefined): Promise<DiskReservation> {
    await this.#checkDisk();
    let bytes = 0;
    let isReleased = false;
    let uploadBytes = 0;
    const add = (more: number): void => {
      // The client has left, so a further reservation would never be released.
      if (isReleased) return;
      bytes += more;
      this.#reserved += more;
    };
    const addUpload = (more: number): void => {
      this.#assertRoom(more, bytes);
      uploadBytes += more;
      add(more);
    };
    addUpload(announcedBytes ?? STEP_BYTES);
    return {
      grow: (uploaded) => {
        if (uploaded > uploadBytes) addUpload(Math.max(STEP_BYTES, uploaded - uploadBytes));
      },
      addResult: add,
      release: () => {
        this.#reserved -= bytes;
        bytes = 0;
        isReleased = true;
      },
    };
  }

  /** A single request may use more than the budget, so that an upload within its plan is always possible. */
  #assertRoom(more: number, own: number): void {
    const others = this.#reserved - own;
    const isOverBudget = others > 0 && this.#reserved + more > this.#maxBytes;
    if (!isOverBudget && this.#reserved + more + SPARE_BYTES <= this.#freeBytes) return;
    throw new AppError('storage_unavailable', 'Too many uploads are in progress. Try again shortly.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  /** Requests that arrive during a check wait for it. */
  async #checkDisk(): Promise<void> {
    const now = performance.now();
    if (now - this.#checkedAt > DISK_CHECK_MS) {
      this.#checkedAt = now;
      this.#check = statfs(this.#directory).then(({ bavail, bsize }) => {
        this.#freeBytes = bavail * bsize;
      });
    }
    await this.#check.catch(rethrowAsStorageError);
  }
}
