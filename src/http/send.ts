// A finished file to the caller: headers with the facts of the render, then the bytes from disk.

import { closeSync, createReadStream, fstatSync, openSync, read } from 'node:fs';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { FastifyReply } from 'fastify';
import { AppError } from '../errors.ts';
import type { AssetKind } from '../media/sniff.ts';
import { rethrowAsStorageError } from '../media/work-area.ts';
import type { RenderFacts } from '../render/render.ts';

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

/** Resolves when the last byte has been handed to the connection. */
export async function sendFile(
  reply: FastifyReply,
  file: string,
  headers: Readonly<Record<string, string>>,
  shutdown: AbortSignal,
): Promise<void> {
  const { size, body } = await openBody(file).catch(rethrowAsStorageError);
  reply.headers({ ...headers, 'content-length': size, 'cache-control': 'no-store' });
  const sent = finished(reply.raw).catch((error: unknown) => {
    throw new AppError('client_closed', 'The client closed the connection.', { cause: error });
  });
  const giveUp = (): void => {
    reply.raw.destroy();
  };
  reply.raw.setTimeout(STALLED_MS, giveUp);
  shutdown.addEventListener('abort', giveUp, { once: true });
  try {
    reply.send(body);
    await sent;
  } finally {
    shutdown.removeEventListener('abort', giveUp);
  }
}

const readInto = promisify(read);

/** Only reading is left to the thread pool: a turn through it takes many times as long as the other calls. */
async function openBody(file: string): Promise<{ size: number; body: Buffer | Readable }> {
  const fd = openSync(file, 'r');
  let isStreamed = false;
  try {
    const { size } = fstatSync(fd);
    isStreamed = size > WHOLE_BYTES;
    if (isStreamed) return { size, body: createReadStream(file, { fd, highWaterMark: CHUNK_BYTES }) };
    const { buffer, bytesRead } = await readInto(fd, Buffer.allocUnsafeSlow(size), 0, size, 0);
    if (bytesRead < size) throw new Error(`${file} gave ${bytesRead} of ${size} bytes`);
    return { size, body: buffer };
  } finally {
    // A stream closes the file itself.
    if (!isStreamed) closeSync(fd);
  }
}

function serverTiming(timings: Readonly<Record<string, number>>): string {
  return Object.entries(timings)
    .map(([step, milliseconds]) => `${step};dur=${milliseconds.toFixed(1)}`)
    .join(', ');
}
