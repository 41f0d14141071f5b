// What the server and a render worker say to each other: plain JSON over the process's own channel. Files never travel
// here, only their paths.

import type { AppError, ErrorCode } from '../errors.ts';
import type { CodecInfo } from '../media/video/codecs.ts';
import type { AssetLimits, AssetProbe } from '../render/compose.ts';
import type { RenderFacts } from '../render/render.ts';
import type { RenderJob, StoredAsset } from './renderer.ts';

export type Task =
  | { readonly type: 'probe'; readonly asset: StoredAsset; readonly limits: AssetLimits }
  | { readonly type: 'render'; readonly job: RenderJob };

export type TaskOf<Type extends Task['type']> = Extract<Task, { readonly type: Type }>;

export type ToWorker =
  | { readonly type: 'task'; readonly id: number; readonly task: Task }
  | { readonly type: 'cancel'; readonly id: number };

export interface TaskResults {
  readonly probe: AssetProbe;
  readonly render: RenderFacts;
}

export type FromWorker =
  | { readonly type: 'ready'; readonly codecs?: CodecInfo }
  | { readonly type: 'done'; readonly id: number; readonly result: TaskResults[Task['type']] }
  | { readonly type: 'failed'; readonly id: number; readonly failure: TaskFailure };

/** An `AppError` on its way between processes; `code` is undefined for a bug in the worker. */
export interface TaskFailure {
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly limit?: AppError['limit'];
}
