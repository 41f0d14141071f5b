// What the server and a render worker say to each other: plain JSON over the process's own channel. Files never travel
// here, only their paths. A worker may have been taken over by a file, so what it says is looked at before it is believed.

import type { AppError, ErrorCode } from '../errors.ts';
import type { Asset } from '../media/asset.ts';
import type { CodecInfo } from '../media/video/probe/codecs.ts';
import type { AssetLimits, AssetProbe } from '../render/compose.ts';
import type { RenderFacts } from '../render/render.ts';
import type { RenderJob } from './renderer.ts';

export type WorkerTask =
  | { readonly type: 'probe'; readonly asset: Asset; readonly limits: AssetLimits }
  | { readonly type: 'render'; readonly job: RenderJob };

export type TaskOf<Type extends WorkerTask['type']> = Extract<WorkerTask, { readonly type: Type }>;

export type ToWorker =
  | { readonly type: 'task'; readonly id: number; readonly task: WorkerTask }
  | { readonly type: 'cancel'; readonly id: number };

export interface TaskResults {
  readonly probe: AssetProbe;
  readonly render: RenderFacts;
}

export type FromWorker =
  | { readonly type: 'ready'; readonly codecs?: CodecInfo }
  | { readonly type: 'done'; readonly id: number; readonly result: TaskResults[WorkerTask['type']] }
  | { readonly type: 'failed'; readonly id: number; readonly failure: TaskFailure };

export type Ready = Extract<FromWorker, { readonly type: 'ready' }>;
export type TaskOutcome = Extract<FromWorker, { readonly type: 'done' | 'failed' }>;

/** An `AppError` on its way between processes; `code` is undefined for a bug in the worker. */
export interface TaskFailure {
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly limit?: AppError['limit'];
}

/** What can be wrong inside a worker; everything else is decided by the server. */
const WORKER_CODES: ReadonlySet<unknown> = new Set<ErrorCode | undefined>([
  undefined,
  'unsupported_asset',
  'asset_too_many_pixels',
  'asset_dimensions_too_large',
  'asset_too_long',
  'asset_frame_rate_too_high',
  'asset_undecodable',
  'storage_unavailable',
]);

export function isReady(message: unknown): message is Ready {
  return isRecord(message) && message['type'] === 'ready';
}

export function isOutcome(message: unknown): message is TaskOutcome {
  if (!isRecord(message) || typeof message['id'] !== 'number') return false;
  if (message['type'] === 'done') return isRecord(message['result']);
  const { type, failure } = message;
  return (
    type === 'failed' &&
    isRecord(failure) &&
    typeof failure['message'] === 'string' &&
    WORKER_CODES.has(failure['code'])
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
