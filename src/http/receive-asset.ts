// One uploaded file, to disk as it arrives. Its first bytes say what it is, and from then on how large it may become.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { AppError } from '../errors.ts';
import { type AssetFormat, SNIFF_LENGTH, sniff } from '../media/sniff.ts';
import { rethrowAsStorageError } from '../media/work-area.ts';

export interface AssetDestination {
  readonly path: string;
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

/** Enough not to wait for the disk after every packet. */
const WRITE_AHEAD_BYTES = 1024 * 1024;

export async function receiveAsset(stream: Readable, destination: AssetDestination): Promise<ReceivedAsset> {
  const file = createWriteStream(destination.path, { flags: 'wx', mode: 0o600, highWaterMark: WRITE_AHEAD_BYTES });
  const written = finished(file).catch(rethrowAsStorageError);
  // Awaited below; marked as handled here, because it may fail while the upload is still being waited for.
  written.catch(() => undefined);
  let head = Buffer.alloc(0);
  let format: AssetFormat | undefined;
  let bytes = 0;
  const hash = destination.hash ? createHash('sha256') : undefined;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      hash?.update(chunk);
      if (head.length < SNIFF_LENGTH) {
        head = Buffer.concat([head, chunk.subarray(0, SNIFF_LENGTH)]);
        format = sniff(head);
        if (format !== undefined && head.length >= SNIFF_LENGTH) destination.onFormat?.(format);
      }
      assertSize(bytes, format === undefined ? destination.maxBytes : destination.maxBytesOf(format));
      const keep = format !== undefined || head.length < SNIFF_LENGTH;
      if (keep && !file.write(chunk)) await Promise.race([once(file, 'drain').catch(rethrowAsStorageError), written]);
    }
    file.end();
    await written;
  } catch (error) {
    file.destroy();
    throw error;
  }
  return { path: destination.path, bytes, format, sha256: hash?.digest('hex') };
}

function assertSize(bytes: number, limit: number): void {
  if (bytes <= limit) return;
  throw new AppError('asset_too_large', `The asset has more than ${limit} bytes, the limit for its type.`, {
    limit: { limit, actual: bytes },
  });
}
