// A finished file to the caller: headers with the facts of the render, then the bytes from disk.

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

/** What is said of a render, now and whenever it is delivered again. Plain JSON. */
export type RenderHeaders = Readonly<Record<string, string>>;

const OUTPUT = {
  image: { contentType: 'image/png', extension: 'png' },
  video: { contentType: 'video/mp4', extension: 'mp4' },
} as const satisfies Record<AssetKind, { contentType: string; extension: string }>;

/** Up to this size a file is read at once: every turn between disk, loop and connection costs more than its bytes do. */
const WHOLE_BYTES = 4 * 1024 * 1024;
/** Answers on their way at once that need no new memory. */
const MOST_SPARE = 4;
/** Beyond it, still larger reads than the default. */
const CHUNK_BYTES = 512 * 1024;

/** A client that takes no byte for this long has left without saying so. */
const STALLED_MS = 30_000;

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

/** Sends files, and gives up on clients that take nothing. */
export class FileSender {
  readonly #shutdown: AbortSignal;
  readonly #buffers = new BufferPool(WHOLE_BYTES, MOST_SPARE);

  /** `shutdown` fires when running answers must end. */
  constructor(shutdown: AbortSignal) {
    this.#shutdown = shutdown;
  }

  /** Resolves when the last byte has been handed to the connection. */
  async send(reply: FastifyReply, file: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const { size, body, release } = await this.#open(file).catch(rethrowAsStorageError);
    reply.headers({ ...headers, 'content-length': size, 'cache-control': 'no-store' });
    const sent = finished(reply.raw).catch((error: unknown) => {
      throw new AppError('client_closed', 'The client closed the connection.', { cause: error });
    });
    const giveUp = (): void => {
      reply.raw.destroy();
    };
    reply.raw.setTimeout(STALLED_MS, giveUp);
    this.#shutdown.addEventListener('abort', giveUp, { once: true });
    try {
      reply.send(body);
      await sent;
      release?.();
    } finally {
      this.#shutdown.removeEventListener('abort', giveUp);
    }
  }

  /** Only reading is left to the thread pool: a turn through it takes many times as long as the other calls. */
  async #open(file: string): Promise<Body> {
    const fd = openSync(file, 'r');
    let isStreamed = false;
    try {
      const { size } = fstatSync(fd);
      isStreamed = size > WHOLE_BYTES;
      if (isStreamed) return { size, body: createReadStream(file, { fd, highWaterMark: CHUNK_BYTES }) };
      const buffer = this.#buffers.take(size);
      const { bytesRead } = await readInto(fd, buffer, 0, size, 0);
      if (bytesRead < size) throw new Error(`${file} gave ${bytesRead} of ${size} bytes`);
      return { size, body: buffer.subarray(0, size), release: () => this.#buffers.giveBack(buffer) };
    } finally {
      // A stream closes the file itself.
      if (!isStreamed) closeSync(fd);
    }
  }
}

interface Body {
  readonly size: number;
  readonly body: Buffer | Readable;
  /** Called when every byte has left. Never after a failure: a connection that broke may still hold on to them. */
  readonly release?: () => void;
}

const readInto = promisify(read);

function serverTiming(timings: Readonly<Record<string, number>>): string {
  return Object.entries(timings)
    .map(([step, milliseconds]) => `${step};dur=${milliseconds.toFixed(1)}`)
    .join(', ');
}
