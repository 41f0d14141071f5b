// Streams one uploaded file to disk. Its first bytes decide the format, and the format decides the size limit.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, openSync, type WriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { AppError } from '../../errors.ts';
import { type AssetFormat, type AssetKind, KIND_OF_FORMAT, SNIFF_LENGTH, sniff } from '../../media/sniff.ts';
import { rethrowAsStorageError } from '../../media/work-area.ts';

export interface AssetDestination {
  readonly path: string;
  /** Creates the directory. Called only for a file in a known format. */
  readonly prepare: () => Promise<void>;
  /** The largest size of any format. */
  readonly maxBytes: number;
  readonly maxBytesOf: (format: AssetFormat) => number;
  /** Throws when the queue for this kind of asset is full, so that the rest isn't uploaded in vain. */
  readonly assertRoom: (kind: AssetKind) => void;
  /** Reserves disk space for the bytes received so far; throws when there is none. */
  readonly reserve: (bytes: number) => void;
  /** Whether to compute the SHA-256 of the bytes. */
  readonly hash: boolean;
}

export interface ReceivedFile {
  readonly path: string;
  readonly bytes: number;
  /** Undefined when the bytes match no supported format. Such a file is counted, but not stored. */
  readonly format: AssetFormat | undefined;
  /** Hexadecimal, if it was asked for. */
  readonly sha256: string | undefined;
}

/** Bytes collected in memory before they are written together. */
const WRITE_AHEAD_BYTES = 1024 * 1024;

export async function receiveAsset(stream: Readable, destination: AssetDestination): Promise<ReceivedFile> {
  const hash = destination.hash ? createHash('sha256') : undefined;
  let head = Buffer.alloc(0);
  let format: AssetFormat | undefined;
  let file: AssetFile | undefined;
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      hash?.update(chunk);
      const isHead = head.length < SNIFF_LENGTH;
      if (isHead) {
        head = Buffer.concat([head, chunk]);
        format = sniff(head);
      }
      assertSize(bytes, format === undefined ? destination.maxBytes : destination.maxBytesOf(format));
      destination.reserve(bytes);
      if (!isHead) await file?.write(chunk);
      else if (format !== undefined && head.length >= SNIFF_LENGTH) {
        destination.assertRoom(KIND_OF_FORMAT[format]);
        file = await AssetFile.begin(destination, head);
      }
    }
    // The whole file is shorter than the bytes that `sniff` asks for.
    if (format !== undefined) file ??= await AssetFile.begin(destination, head);
    await file?.end();
  } catch (error) {
    file?.destroy();
    throw error;
  }
  return { path: destination.path, bytes, format, sha256: hash?.digest('hex') };
}

/**
 * The file on disk. It is created with its first bytes, so a refused upload touches no disk. Chunks are written together
 * because each write goes through the thread pool, which costs more than the write itself.
 */
class AssetFile {
  readonly #stream: WriteStream;
  readonly #written: Promise<unknown>;

  private constructor(path: string) {
    const fd = openSync(path, 'wx', 0o600);
    this.#stream = createWriteStream(path, { fd, highWaterMark: WRITE_AHEAD_BYTES });
    this.#stream.cork();
    // A stream can fail more than once, also while closing; an error without a listener would end the process.
    this.#stream.on('error', () => undefined);
    this.#written = once(this.#stream, 'finish').catch(rethrowAsStorageError);
    // Awaited in `end`. Marked as handled here because it may fail earlier, while the upload is still running.
    this.#written.catch(() => undefined);
  }

  static async begin({ path, prepare }: AssetDestination, head: Buffer): Promise<AssetFile> {
    await prepare();
    const file = AssetFile.#open(path);
    await file.write(head);
    return file;
  }

  static #open(path: string): AssetFile {
    try {
      return new AssetFile(path);
    } catch (error) {
      return rethrowAsStorageError(error);
    }
  }

  async write(chunk: Buffer): Promise<void> {
    if (this.#stream.write(chunk)) return;
    const drained = once(this.#stream, 'drain').catch(rethrowAsStorageError);
    this.#stream.uncork();
    await Promise.race([drained, this.#written]);
    this.#stream.cork();
  }

  async end(): Promise<void> {
    this.#stream.end();
    await this.#written;
  }

  destroy(): void {
    this.#stream.destroy();
  }
}

export function assertSize(bytes: number, limit: number): void {
  if (bytes <= limit) return;
  throw new AppError('asset_too_large', `The asset is larger than ${limit} bytes, the limit for its type.`, {
    limit: { limit, actual: bytes },
  });
}
