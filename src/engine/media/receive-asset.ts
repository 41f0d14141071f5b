// Receives one file. Its first bytes decide the format, and the format decides the size limit. A large file is streamed to disk;
// a small one stays in memory until the request is known to be rendered, so refusing it costs no disk access.

import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { AppError } from '../../shared/errors.ts';
import { workerKindFor } from './asset.ts';
import { type AssetFormat, type AssetKind, isAnimation, KIND_OF_FORMAT, SNIFF_LENGTH, sniff } from './sniff.ts';
import { rethrowAsStorageError } from './work-area.ts';

export interface AssetDestination {
  readonly path: string;
  /** Creates the directory. Called only for a file in a known format. */
  readonly prepare: () => Promise<void>;
  /** The largest size of any format. */
  readonly maxBytes: number;
  readonly maxBytesOf: (format: AssetFormat) => number;
  /**
   * Called when the kind of worker is known. Throws when its queue is full, so that the client doesn't upload the rest
   * in vain. Not called for an animation, because the field that decides its kind can come after the file.
   */
  readonly onKind?: (kind: AssetKind) => void;
  /** Reserves disk space for the bytes received so far; throws when there is none. */
  readonly reserve: (bytes: number) => void;
  /** True if to compute the SHA-256 of the bytes. */
  readonly hash: boolean;
  /** Tells from the first bytes whether to store a file that isn't an image or a video. */
  readonly accepts?: (head: Buffer) => boolean;
}

export interface ReceivedFile {
  readonly path: string;
  readonly bytes: number;
  /** Undefined when the bytes match no supported format. Such a file is counted, but not stored. */
  readonly format: AssetFormat | undefined;
  /** Set for a file that `accepts` wants. */
  readonly isAccepted?: true;
  /** True for a GIF or WebP that can become a video. */
  readonly isAnimation?: boolean;
  /** Hexadecimal. Set if it was requested. */
  readonly sha256: string | undefined;
  /** Writes the file to disk. Absent when it is there already. */
  readonly save?: () => Promise<void>;
}

/**
 * Files up to this size stay in memory at first. Larger ones are written in chunks of this size, because each write
 * takes a thread.
 */
const WRITE_AHEAD_BYTES = 1024 * 1024;

export async function receiveAsset(stream: Readable, destination: AssetDestination): Promise<ReceivedFile> {
  const hash = destination.hash ? createHash('sha256') : undefined;
  const file = new AssetFile(destination);
  let head: Buffer = Buffer.alloc(0);
  let format: AssetFormat | undefined;
  let bytes = 0;
  let isAccepted = false;
  try {
    // The caller destroys the stream. The iterator would do so with an error and its stack trace for each refused upload.
    const chunks = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      hash?.update(chunk);
      const isHead = head.length < SNIFF_LENGTH;
      if (isHead) {
        // The first chunk is usually long enough and needs no copy.
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        format = sniff(head);
        isAccepted = format === undefined && destination.accepts?.(head) === true;
      }
      assertSize(bytes, format === undefined ? destination.maxBytes : destination.maxBytesOf(format));
      destination.reserve(bytes);
      if (!(format ?? isAccepted) || head.length < SNIFF_LENGTH) continue;
      if (isHead && format && !isAnimation(head)) {
        destination.onKind?.(workerKindFor({ kind: KIND_OF_FORMAT[format], format }));
      }
      await file.write(isHead ? head : chunk);
    }
    // The whole file is shorter than the bytes that `sniff` asks for.
    if ((format ?? isAccepted) && head.length < SNIFF_LENGTH) await file.write(head);
    if (file.isOpen) await file.flush();
  } finally {
    await file.close();
  }
  const facts = {
    path: destination.path,
    bytes,
    format,
    ...(isAccepted && { isAccepted }),
    isAnimation: isAnimation(head),
    sha256: hash?.digest('hex'),
  };
  return !(format ?? isAccepted) || file.isOpen ? facts : { ...facts, save: async () => await file.save() };
}

/** The bytes of a file in a known format. The file is created by the first flush. */
class AssetFile {
  readonly #destination: AssetDestination;
  #handle: FileHandle | undefined;
  #collected: Buffer[] = [];
  #collectedBytes = 0;

  constructor(destination: AssetDestination) {
    this.#destination = destination;
  }

  get isOpen(): boolean {
    return this.#handle !== undefined;
  }

  async write(chunk: Buffer): Promise<void> {
    this.#collected.push(chunk);
    this.#collectedBytes += chunk.length;
    if (this.#collectedBytes >= WRITE_AHEAD_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.#collected);
    this.#collected = [];
    this.#collectedBytes = 0;
    if (!this.#handle) await this.#destination.prepare();
    try {
      this.#handle ??= await open(this.#destination.path, 'wx', 0o600);
      await this.#handle.appendFile(bytes);
    } catch (error) {
      rethrowAsStorageError(error);
    }
  }

  /** Writes a file that is completely in memory. */
  async save(): Promise<void> {
    try {
      await this.flush();
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }
}

export function assertSize(bytes: number, limit: number): void {
  if (bytes <= limit) return;
  throw new AppError('asset_too_large', `The asset is larger than ${limit} bytes, the limit for its type.`, {
    limit: { limit, actual: bytes },
  });
}
