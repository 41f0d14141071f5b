// Receives the body of a request: the asset streamed to disk, the fields to memory. Size, pace and disk space are limited
// while bytes arrive, and an upload ends early when the queue for its kind is full.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PlanLimits } from '../../account/plans.ts';
import { destinationIn } from '../../renders/asset-destination.ts';
import type { LazyDirectory } from '../../../engine/media/work-area.ts';
import type { DiskReservation, UploadBudget } from '../../renders/upload-budget.ts';
import { onClosed } from '../transport/on-closed.ts';
import { watchPace } from '../../fetch/pace.ts';
import { createRequestSignal, type RequestSignal } from '../transport/request-signal.ts';
import { bodyReader, type SmallBodyOptions, smallBodyReader } from './body.ts';
import type { ReceivedForm } from '../../renders/received-form.ts';
import type { AssetDestination } from '../../../engine/media/receive-asset.ts';

const MAX_SMALL_SECONDS = 30;

export interface ReceiveDependencies {
  readonly uploads: UploadBudget;
}

interface Receiving {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly directory: LazyDirectory;
  readonly lifetime: RequestSignal;
}

export interface ReceiveOptions extends Pick<AssetDestination, 'hash' | 'onKind' | 'accepts'> {
  /** Disk space is reserved as bytes arrive, so that large slow uploads can't keep others from theirs. */
  readonly isAsync?: boolean;
}

export interface Upload extends ReceivedForm {
  readonly receiveMs: number;
  readonly disk: DiskReservation;
  /** The destination of an asset that is fetched afterwards, with the same limits. */
  readonly destination: AssetDestination;
}

export async function receive(
  { uploads }: ReceiveDependencies,
  { request, reply, directory, lifetime }: Receiving,
  limits: Pick<PlanLimits, 'imageBytes' | 'videoBytes'>,
  options: ReceiveOptions,
): Promise<Upload> {
  const started = performance.now();
  const readBody = bodyReader(request.raw, Math.max(limits.imageBytes, limits.videoBytes));
  const { isAsync = false, ...file } = options;
  const disk = await uploads.reserve(isAsync ? undefined : announcedBytes(request));
  onClosed(reply.raw, () => disk.release());
  const destination = destinationIn(directory, disk, limits, file);
  const stopWatching = watchPace(request.raw, (reason) => lifetime.giveUp(reason), uploads.maxSeconds);
  try {
    sendContinue(request, reply);
    const form = await readBody(lifetime.signal, destination);
    return { ...form, receiveMs: performance.now() - started, disk, destination };
  } finally {
    stopWatching();
  }
}

/** Receives a body without a file. `advice` is for a caller that sends another type. */
export async function receiveSmall(
  request: FastifyRequest,
  reply: FastifyReply,
  { shutdown, ...options }: { readonly shutdown: AbortSignal } & SmallBodyOptions,
): Promise<ReceivedForm> {
  const lifetime = createRequestSignal(reply.raw, shutdown);
  const stopWatching = watchPace(request.raw, (reason) => lifetime.giveUp(reason), MAX_SMALL_SECONDS);
  try {
    const read = smallBodyReader(request.raw, options);
    sendContinue(request, reply);
    return await read(lifetime.signal);
  } finally {
    stopWatching();
    lifetime.release();
  }
}

/** Returns undefined for a chunked body. */
function announcedBytes({ headers }: FastifyRequest): number | undefined {
  const announced = Number(headers['content-length'] ?? Number.NaN);
  return Number.isFinite(announced) ? announced : undefined;
}

/** A client that sent `Expect: 100-continue` uploads once key and size have been checked. */
function sendContinue({ headers }: FastifyRequest, reply: FastifyReply): void {
  if (headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue();
}
