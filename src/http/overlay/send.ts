// Sends a finished file: headers with the facts of the render, then the bytes from disk.

import { closeSync, createReadStream, fstatSync, openSync, read } from 'node:fs';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { FastifyReply } from 'fastify';
import { AppError } from '../../errors.ts';
import type { AssetKind } from '../../media/sniff.ts';
import { rethrowAsStorageError } from '../../media/work-area.ts';
import type { RenderFacts } from '../../render/render.ts';
import { BufferPool } from '../transport/buffer-pool.ts';

export interface RenderReport {
  readonly renderId: string;
  readonly kind: AssetKind;
  readonly facts: RenderFacts;
  readonly receiveMs: number;
  readonly renderMs: number;
}

/** Headers that describe a render, stored with its idempotency key so that a replay sends the same ones. */
export type RenderHeaders = Readonly<Record<string, string>>;

const OUTPUT = {
  image: { contentType: 'image/png', extension: 'png' },
  video: { contentType: 'video/mp4', extension: 'mp4' },
} as const satisfies Record<AssetKind, { contentType: string; extension: string }>;

/** Files up to this size are read in one go, because each trip through the event loop costs more than its bytes. */
const SINGLE_READ_BYTES = 4 * 1024 * 1024;
/** Read buffers kept for reuse. */
const MAX_POOLED_BUFFERS = 4;
/** Read size for larger files; Node's default is 64 KiB. */
const CHUNK_BYTES = 512 * 1024;

/** A client that accepts no byte for this long is treated as gone. */
const STALL_TIMEOUT_MS = 30_000;

export function renderHeaders({ renderId, kind, facts, receiveMs, renderMs }: RenderReport): RenderHeaders {
  const { contentType, extension } = OUTPUT[kind];
  return {
    'content-type': contentType,
    'content-disposition': `inline; filename="${renderId}.${extension}"`,
    'x-render-id': renderId,
    'x-source-type': kind,
    'x-render-duration-ms': String(Math.max(1, Math.round(renderMs))),
    'server-timing': serverTiming({ receive: receiveMs, ...facts.timings }),
    ...(facts.missingGlyphs > 0 && { 'x-missing-glyphs': String(facts.missingGlyphs) }),
  };
}

/** Sends files, and gives up on clients that stop reading. */
export class FileSender {
  readonly #shutdown: AbortSignal;
  readonly #buffers = new BufferPool(SINGLE_READ_BYTES, MAX_POOLED_BUFFERS);

  /** `shutdown` fires when running responses must end. */
  constructor(shutdown: AbortSignal) {
    this.#shutdown = shutdown;
  }

  /** Resolves when the last byte has been handed to the socket. */
  async send(reply: FastifyReply, file: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const { size, body, release } = await this.#open(file).catch(rethrowAsStorageError);
    reply.headers({ ...headers, 'content-length': size, 'cache-control': 'no-store' });
    const sent = finished(reply.raw).catch((error: unknown) => {
      throw new AppError('client_closed', 'The client closed the connection.', { cause: error });
    });
    const giveUp = (): void => {
      reply.raw.destroy();
    };
    reply.raw.setTimeout(STALL_TIMEOUT_MS, giveUp);
    this.#shutdown.addEventListener('abort', giveUp, { once: true });
    try {
      reply.send(body);
      await sent;
      release?.();
    } finally {
      this.#shutdown.removeEventListener('abort', giveUp);
    }
  }

  /** Opens synchronously and only reads through the thread pool, because a round trip costs more than `open` or `fstat`. */
  async #open(file: string): Promise<Body> {
    const fd = openSync(file, 'r');
    let isStreamed = false;
    try {
      const { size } = fstatSync(fd);
      isStreamed = size > SINGLE_READ_BYTES;
      if (isStreamed) return { size, body: createReadStream(file, { fd, highWaterMark: CHUNK_BYTES }) };
      const buffer = this.#buffers.take(size);
      const { bytesRead } = await readInto(fd, buffer, 0, size, 0);
      if (bytesRead < size) throw new Error(`${file} returned ${bytesRead} of ${size} bytes`);
      return { size, body: buffer.subarray(0, size), release: () => this.#buffers.giveBack(buffer) };
    } finally {
      // A read stream closes the descriptor itself.
      if (!isStreamed) closeSync(fd);
    }
  }
}

interface Body {
  readonly size: number;
  readonly body: Buffer | Readable;
  /** Called when every byte has been sent. Not after a failure, because a broken socket may still reference the buffer. */
  readonly release?: () => void;
}

const readInto = promisify(read);

function serverTiming(timings: Readonly<Record<string, number>>): string {
  return Object.entries(timings)
    .map(([step, milliseconds]) => `${step};dur=${milliseconds.toFixed(1)}`)
    .join(', ');
}
