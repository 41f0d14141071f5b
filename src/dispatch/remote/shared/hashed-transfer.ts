// Bytes on their way between two machines: counted, bounded and hashed as they pass. The hash follows the body as a
// trailer, so a body that was cut off or changed on the way is never taken for a whole one.

import { createHash, timingSafeEqual } from 'node:crypto';
import { createReadStream, createWriteStream, type ReadStream } from 'node:fs';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { HASH_TRAILER } from './wire.ts';

/** The body that came is not the body that was sent, or larger than agreed. */
export class TransferError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'TransferError';
  }
}

const CHUNK_BYTES = 512 * 1024;

/** One file or several, end to end. Announce the trailer in the headers first: `trailer: HASH_TRAILER`. */
export async function sendHashed(
  file: string | readonly string[],
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
  const source = typeof file === 'string' ? open(file) : Readable.from(oneAfterTheOther(file), { objectMode: false });
  await pipeline(source, hashing, to, { ...(signal && { signal }) });
}

function open(file: string): ReadStream {
  return createReadStream(file, { highWaterMark: CHUNK_BYTES });
}

async function* oneAfterTheOther(files: readonly string[]): AsyncGenerator<Buffer> {
  for (const file of files) yield* open(file) as AsyncIterable<Buffer>;
}

/** Writes a body to a new file; resolves once it is whole and proved. */
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
      if (bytes > maxBytes) return done(new TransferError(`more than the ${maxBytes} bytes agreed upon`));
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600, highWaterMark: CHUNK_BYTES });
  await pipeline(from, counting, target, { ...(signal && { signal }) });
  const expected = Buffer.from(from.trailers[HASH_TRAILER] ?? '', 'hex');
  const actual = hash.digest();
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) {
    throw new TransferError('the bytes that came are not the bytes that were sent');
  }
  return bytes;
}

/** A small JSON body. */
export async function receiveJson(from: IncomingMessage, maxBytes: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of from as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new TransferError(`more than ${maxBytes} bytes of JSON`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch (error) {
    throw new TransferError('no JSON', error);
  }
}
