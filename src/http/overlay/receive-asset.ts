// One uploaded file, to disk as it arrives. Its first bytes say what it is, and from then on how large it may become.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, openSync, type WriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { AppError } from '../../errors.ts';
import { type AssetFormat, SNIFF_LENGTH, sniff } from '../../media/sniff.ts';
import { rethrowAsStorageError } from '../../media/work-area.ts';

export interface AssetDestination {
  readonly path: string;
  /** Makes the place for it. Called when it is known what comes, and never for what is not kept. */
  readonly prepare?: () => Promise<void>;
  /** The most any format may have. */
  readonly maxBytes: number;
  readonly maxBytesOf: (format: AssetFormat) => number;
  /** Told what it is as soon as that is known; may throw, and the rest is not received. */
  readonly onFormat?: (format: AssetFormat) => void;
  /** Whether anybody wants to know its hash. */
  readonly hash: boolean;
}

export interface ReceivedAsset {
  readonly path: string;
  readonly bytes: number;
  /** Undefined when the bytes are none of the formats we know; such a file is counted but not kept. */
  readonly format: AssetFormat | undefined;
  /** Of the bytes, in hexadecimal digits, where it was asked for. */
  readonly sha256: string | undefined;
}

/** What is collected before it is written. */
const WRITE_AHEAD_BYTES = 1024 * 1024;

export async function receiveAsset(stream: Readable, destination: AssetDestination): Promise<ReceivedAsset> {
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
      if (!isHead) await file?.write(chunk);
      else if (format !== undefined && head.length >= SNIFF_LENGTH) {
        destination.onFormat?.(format);
        file = await AssetFile.begin(destination, head);
      }
    }
    // All of it is shorter than the look at it.
    if (format !== undefined) file ??= await AssetFile.begin(destination, head);
    await file?.end();
  } catch (error) {
    file?.destroy();
    throw error;
  }
  return { path: destination.path, bytes, format, sha256: hash?.digest('hex') };
}

/**
 * The file on disk, from its first bytes on. Whoever is refused before them has cost no disk at all. Bytes are collected
 * and written together: a turn through the thread pool takes longer than most uploads have work for it.
 */
class AssetFile {
  readonly #stream: WriteStream;
  readonly #written: Promise<unknown>;

  private constructor(path: string) {
    const fd = openSync(path, 'wx', 0o600);
    this.#stream = createWriteStream(path, { fd, highWaterMark: WRITE_AHEAD_BYTES });
    this.#stream.cork();
    // It may fail more than once, on closing too, and an error that nobody listens to would end the process.
    this.#stream.on('error', () => undefined);
    this.#written = once(this.#stream, 'finish').catch(rethrowAsStorageError);
    // Awaited later; marked as handled here, because it may fail while the upload is still being waited for.
    this.#written.catch(() => undefined);
  }

  static async begin({ path, prepare }: AssetDestination, head: Buffer): Promise<AssetFile> {
    await prepare?.();
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

function assertSize(bytes: number, limit: number): void {
  if (bytes <= limit) return;
  throw new AppError('asset_too_large', `The asset has more than ${limit} bytes, the limit for its type.`, {
    limit: { limit, actual: bytes },
  });
}
