// File transfers between machines, with a size limit and a checksum. The hash follows the body as a trailer, so a
// truncated or corrupted body is always detected.

import { createHash, timingSafeEqual } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { HASH_TRAILER } from './wire.ts';

/** The received body is corrupted, too large or malformed. */
export class TransferError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'TransferError';
  }
}

const CHUNK_BYTES = 512 * 1024;

/** Sends a file. The caller must have sent the header `trailer: HASH_TRAILER`. */
export async function sendHashed(
  file: string,
  to: ServerResponse | ClientRequest,
  signal?: AbortSignal,
): Promise<void> {
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk);
      done(null, chunk);
    },
    flush: (done) => {
      to.addTrailers({ [HASH_TRAILER]: hash.digest('hex') });
      done();
    },
  });
  const source = createReadStream(file, { highWaterMark: CHUNK_BYTES });
  await pipeline(source, hashing, to, { ...(signal && { signal }) });
}

/** Writes a body to a new file. Resolves with its size once it is complete and its hash matches. */
export async function receiveHashed(
  from: IncomingMessage,
  file: string,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<number> {
  const hash = createHash('sha256');
  let bytes = 0;
  const counting = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      if (bytes > maxBytes) return done(new TransferError(`body exceeds ${maxBytes} bytes`));
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600, highWaterMark: CHUNK_BYTES });
  await pipeline(from, counting, target, { ...(signal && { signal }) });
  const expected = Buffer.from(from.trailers[HASH_TRAILER] ?? '', 'hex');
  const actual = hash.digest();
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) {
    throw new TransferError("body doesn't match its hash");
  }
  return bytes;
}

/** Reads a small JSON body. */
export async function receiveJson(from: IncomingMessage, maxBytes: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of from as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new TransferError(`JSON body exceeds ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw new TransferError("body isn't valid JSON", error);
  }
}
