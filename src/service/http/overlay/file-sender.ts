// Sends a finished file from disk.

import { closeSync, fstatSync, openSync, read } from 'node:fs';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { FastifyReply } from 'fastify';
import { rethrowAsStorageError } from '../../../engine/media/work-area.ts';
import { BufferPool } from '../../../shared/buffer-pool.ts';
import { DeliveryBroken } from '../../renders/delivery-broken.ts';
import { watchReader } from '../../fetch/pace.ts';
import { countSentBytes } from '../transport/sent-bytes.ts';

/** Files up to this size are read at once, because each trip through the event loop costs more than its bytes. */
const SINGLE_READ_BYTES = 4 * 1024 * 1024;
/** Read buffers kept for reuse. */
const MAX_POOLED_BUFFERS = 4;
/** The read size for larger files. Node's default is 64 KiB. */
const CHUNK_BYTES = 512 * 1024;
/** The unit in which sent bytes are counted. Smaller files are sent in one write, which the kernel takes as a whole. */
const WRITE_BYTES = 64 * 1024;

/** Sends files, and gives up on clients that read too slowly. */
export class FileSender {
  readonly #shutdown: AbortSignal;
  readonly #maxSeconds: number;
  readonly #buffers = new BufferPool(SINGLE_READ_BYTES, MAX_POOLED_BUFFERS);

  /** `shutdown` fires when running responses must end. A client has `maxSeconds` to read a response. */
  constructor(shutdown: AbortSignal, maxSeconds: number) {
    this.#shutdown = shutdown;
    this.#maxSeconds = maxSeconds;
  }

  /** Resolves when the last byte has been handed to the socket. Throws `DeliveryBroken` when the client is to blame. */
  async send(reply: FastifyReply, file: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const opened = await this.#open(file).catch(rethrowAsStorageError);
    await this.sendBody(reply, opened, { ...headers, 'cache-control': 'no-store' });
  }

  /** Like `send`, for bytes from elsewhere. `size` is their number. */
  async sendBody(
    reply: FastifyReply,
    { size, body, release }: ResponseBody,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    reply.headers({ ...headers, 'content-length': size });
    const { raw } = reply;
    const sentBytes = countSentBytes(raw);
    let tooSlow: string | undefined;
    let readError: unknown;
    if (body instanceof Readable) body.once('error', (error) => (readError = error));
    const ended = finished(raw).catch((error: unknown) => {
      if (readError !== undefined) rethrowAsStorageError(readError);
      this.#shutdown.throwIfAborted();
      throw new DeliveryBroken(tooSlow ?? 'The client closed the connection.', sentBytes(), size, error);
    });
    const giveUp = (): void => {
      raw.destroy();
    };
    const stopWatching = watchReader(
      sentBytes,
      (reason) => {
        tooSlow = reason;
        giveUp();
      },
      this.#maxSeconds,
    );
    this.#shutdown.addEventListener('abort', giveUp, { once: true });
    try {
      reply.send(body);
      await ended;
      release?.();
    } finally {
      stopWatching();
      this.#shutdown.removeEventListener('abort', giveUp);
    }
  }

  /** Opens synchronously and only reads through the thread pool, because a round trip costs more than `open` or `fstat`. */
  async #open(file: string): Promise<ResponseBody> {
    const fd = openSync(file, 'r');
    let isStreamed = false;
    try {
      const { size } = fstatSync(fd);
      isStreamed = size > SINGLE_READ_BYTES;
      if (isStreamed) {
        // A stream that is destroyed closes only after its last read has ended.
        return { size, body: streamOf(readChunks(fd, size)).once('close', () => closeSync(fd)) };
      }
      const buffer = this.#buffers.take(size);
      const bytes = await readRange(fd, buffer, { start: 0, end: size });
      const release = (): void => this.#buffers.giveBack(buffer);
      return { size, body: size <= WRITE_BYTES ? bytes : streamOf(slicesOf(bytes)), release };
    } finally {
      if (!isStreamed) closeSync(fd);
    }
  }
}

export interface ResponseBody {
  readonly size: number;
  readonly body: Buffer | Readable;
  /**
   * Called when every byte has been sent, but not after a failure, because a broken socket may still reference the
   * buffer.
   */
  readonly release?: () => void;
}

interface ByteRange {
  readonly start: number;
  readonly end: number;
}

function streamOf(parts: Iterable<Buffer> | AsyncIterable<Buffer>): Readable {
  return Readable.from(parts, { objectMode: false });
}

/** Reads a large file in chunks and passes them on in slices. */
async function* readChunks(fd: number, size: number): AsyncGenerator<Buffer> {
  for (const chunk of ranges({ start: 0, end: size }, CHUNK_BYTES)) {
    const bytes = await readRange(fd, Buffer.allocUnsafe(chunk.end - chunk.start), chunk);
    for (const { start, end } of ranges({ start: 0, end: bytes.length }, WRITE_BYTES)) yield bytes.subarray(start, end);
  }
}

function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (const { start, end } of ranges({ start: 0, end: bytes.length }, WRITE_BYTES)) yield bytes.subarray(start, end);
}

/**
 * Yields ranges of at least `bytes`, because Node merges a smaller write with the next one and reports both at once.
 */
function* ranges({ start, end }: ByteRange, bytes: number): Generator<ByteRange> {
  for (let from = start; from < end; ) {
    const to = end - from < 2 * bytes ? end : from + bytes;
    yield { start: from, end: to };
    from = to;
  }
}

async function readRange(fd: number, buffer: Buffer, { start, end }: ByteRange): Promise<Buffer> {
  const { bytesRead } = await readInto(fd, buffer, 0, end - start, start);
  if (bytesRead < end - start) throw new Error(`the file ended after ${start + bytesRead} of ${end} bytes`);
  return buffer.subarray(0, bytesRead);
}

const readInto = promisify(read);
