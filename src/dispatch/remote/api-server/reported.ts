// What a worker reports, looked at before it is believed: workers decode files of strangers, so one may have been taken
// over. It can spoil its own render; it must not break the front.

import { AppError, type ErrorCode } from '../../../errors.ts';
import type { AssetKind } from '../../../media/sniff.ts';
import type { Cut } from '../../../media/video/segments/cuts.ts';
import type { AssetProbe } from '../../../render/compose.ts';
import type { RenderFacts } from '../../../render/render.ts';
import { TransferError } from '../shared/hashed-transfer.ts';
import type { RemoteFailure } from '../shared/wire.ts';

/** A code that only a front may give; from a worker it is a lie or a bug. */
type WorkerCode = Extract<
  ErrorCode,
  | 'asset_undecodable'
  | 'asset_too_many_pixels'
  | 'asset_dimensions_too_large'
  | 'asset_too_long'
  | 'asset_frame_rate_too_high'
  | 'unsupported_asset'
  | 'renderer_unavailable'
  | 'storage_unavailable'
  | 'overloaded'
  | 'shutting_down'
>;

const WORKER_CODES: Readonly<Record<WorkerCode, true>> = {
  asset_undecodable: true,
  asset_too_many_pixels: true,
  asset_dimensions_too_large: true,
  asset_too_long: true,
  asset_frame_rate_too_high: true,
  unsupported_asset: true,
  renderer_unavailable: true,
  storage_unavailable: true,
  overloaded: true,
  shutting_down: true,
};

const MAX_SIDE = 1_000_000;
const MAX_MESSAGE = 2_000;
const MAX_BARS = 10;
const MAX_CUTS = 1_000;

export function checkProbe(value: unknown, kind: AssetKind): AssetProbe {
  const probe = objectOf(value);
  if (probe['kind'] !== kind || !isSide(probe['width']) || !isSide(probe['height'])) throw implausible('probe');
  if (kind === 'image') return value as AssetProbe;
  const numbers = [
    probe['durationSeconds'],
    probe['claimedSeconds'],
    probe['frameRate'],
    objectOf(probe['video'])['frames'],
  ];
  if (!numbers.every(isAmount)) throw implausible('probe');
  return { ...probe, cuts: checkCuts(probe['cuts'] ?? []) } as unknown as AssetProbe;
}

function checkCuts(value: unknown): readonly Cut[] {
  if (!Array.isArray(value) || value.length > MAX_CUTS) throw implausible('probe');
  return value.map((cut: unknown) => {
    const { pts, frames, decodeFrom, decodeTo } = objectOf(cut);
    if (!isWhole(pts) || !isWhole(frames) || !isWhole(decodeFrom) || !isWhole(decodeTo)) throw implausible('probe');
    return { pts, frames, decodeFrom, decodeTo };
  });
}

export function checkFacts(value: unknown): RenderFacts {
  const { width, height, bars, missingGlyphs, timings } = objectOf(value);
  const steps = Object.entries(objectOf(timings));
  if (!isSide(width) || !isSide(height) || !isAmount(missingGlyphs) || steps.length > 32) throw implausible('facts');
  if (!steps.every(([name, ms]) => /^\w{1,32}$/u.test(name) && isAmount(ms))) throw implausible('facts');
  return {
    width,
    height,
    bars: checkBars(bars),
    missingGlyphs,
    timings: Object.fromEntries(steps) as Record<string, number>,
  };
}

function checkBars(value: unknown): RenderFacts['bars'] {
  if (!Array.isArray(value) || value.length > MAX_BARS) throw implausible('facts');
  return value.map((bar: unknown) => {
    const { top, height } = objectOf(bar);
    if (!isAmount(top) || !isAmount(height)) throw implausible('facts');
    return { top, height };
  });
}

export function checkFailure(value: unknown): RemoteFailure {
  const { code, message, limit, again } = objectOf(value);
  if (code !== undefined && (typeof code !== 'string' || !Object.hasOwn(WORKER_CODES, code)))
    throw implausible('failure');
  if (typeof message !== 'string' || typeof again !== 'boolean') throw implausible('failure');
  return {
    code: code as WorkerCode | undefined,
    message: message.slice(0, MAX_MESSAGE),
    again,
    ...(limit !== undefined && { limit: checkLimit(limit) }),
  };
}

/** The same error as if the work had been done here. */
export function toError({ code, message, limit }: RemoteFailure): Error {
  if (code === undefined) return new Error(`render worker: ${message}`);
  return new AppError(code, message, limit ? { limit } : {});
}

function checkLimit(value: unknown): { limit: number; actual: number } {
  const { limit, actual } = objectOf(value);
  if (!isAmount(limit) || !isAmount(actual)) throw implausible('failure');
  return { limit, actual };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw implausible('report');
  return value as Readonly<Record<string, unknown>>;
}

function isSide(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) <= MAX_SIDE;
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function implausible(what: string): TransferError {
  return new TransferError(`an implausible ${what}`);
}
