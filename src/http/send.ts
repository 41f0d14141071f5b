// A finished file to the caller: headers with the facts of the render, then the bytes from disk.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';
import { AppError } from '../errors.ts';
import type { AssetKind } from '../media/sniff.ts';
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

/** Larger reads than the default: a PNG of two megabytes leaves in five steps and not in 33. */
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
  const { size } = await stat(file);
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
    reply.send(createReadStream(file, { highWaterMark: CHUNK_BYTES }));
    await sent;
  } finally {
    shutdown.removeEventListener('abort', giveUp);
  }
}

function serverTiming(timings: Readonly<Record<string, number>>): string {
  return Object.entries(timings)
    .map(([step, milliseconds]) => `${step};dur=${milliseconds.toFixed(1)}`)
    .join(', ');
}
