// The server's tasks for a render worker process: plain JSON over the process's own channel. Files are never sent here,
// only their paths. The replies are in reports.ts.

import type { ErrorCode } from '../../shared/error-table.ts';
import type { Asset } from '../../engine/media/asset.ts';
import type { AssetLimits, AssetProbe } from '../../engine/render/compose.ts';
import type { RenderFacts } from '../../engine/render/render.ts';
import type { RenderJob } from './renderer.ts';

export type WorkerTask =
  | { readonly type: 'probe'; readonly asset: Asset; readonly limits: AssetLimits }
  | { readonly type: 'render'; readonly job: RenderJob };

export type TaskType = WorkerTask['type'];
export type TaskOf<Type extends TaskType> = Extract<WorkerTask, { readonly type: Type }>;

export interface TaskResults {
  readonly probe: AssetProbe;
  readonly render: RenderFacts;
}

/** One message from the server to a worker process. */
export type WorkerCommand =
  | { readonly type: 'task'; readonly id: number; readonly task: WorkerTask }
  | { readonly type: 'cancel'; readonly id: number };

/** The failures that can occur inside a worker process. Every other code is for the server to decide. */
export const TASK_FAILURE_CODES = [
  'unsupported_asset',
  'asset_too_many_pixels',
  'asset_dimensions_too_large',
  'asset_too_long',
  'asset_frame_rate_too_high',
  'asset_undecodable',
  'out_of_memory',
  'cannot_fit',
  'storage_unavailable',
] as const satisfies readonly ErrorCode[];

export function isTaskFailureCode(code: ErrorCode): code is (typeof TASK_FAILURE_CODES)[number] {
  return TASK_FAILURE_CODES.some((known) => known === code);
}
