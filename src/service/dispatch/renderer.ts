// The interface to everything that renders. Callers know only this file. Behind it are worker processes on this machine
// or on others.

import type { AppError } from '../../shared/errors.ts';
import type { Asset } from '../../engine/media/asset.ts';
import type { RenderFile } from '../../engine/media/render-file.ts';
import type { AssetKind } from '../../engine/media/sniff.ts';
import type { CodecInfo } from '../../engine/media/video/probe/codecs.ts';
import type { AssetLimits, AssetProbe, Recipe } from '../../engine/render/compose.ts';
import type { RenderFacts } from '../../engine/render/render.ts';

export { QueueUnavailable } from './remote/shared/queue-unavailable.ts';

export interface RenderJob {
  readonly recipe: Recipe;
  /** Absent for a transparent overlay. */
  readonly asset: Asset | undefined;
  /** An additional file that the recipe works on. */
  readonly attachment?: string;
  /** Fonts of the account that the recipe names. */
  readonly files?: readonly RenderFile[];
  /** The path of the file to write. */
  readonly output: string;
}

/** The class of a render in the queue; see `queue/fair-queue.ts`. */
export type LeaseClass = 'interactive' | 'guest' | 'layout' | 'background';

/** The steps that a worker takes for a lease. */
type LeaseStep = 'probe' | 'render';

/** The account of a render, and how long its caller can wait. */
export interface LeaseRequest {
  readonly account: string;
  readonly class: LeaseClass;
  /** The milliseconds for waiting and work together before the response comes too late, by the kind of worker. */
  readonly budgetMs: Readonly<Record<AssetKind, number>>;
  /** Ends the render, whatever its step. */
  readonly signal: AbortSignal;
  /** The id in the response's `x-render-id`, under which every process logs the render. */
  readonly renderId?: string;
  /** Called with a worker's name when it starts with a step. */
  readonly onAssigned?: (worker: string, step: LeaseStep) => void;
  /** Called when the render turns out to be long and has to wait for another long one. */
  readonly onHeldBack?: () => void;
}

/**
 * One render from its first step to its last. It holds nothing until it enters the queue. Then it has a worker, or
 * waits for one, until it is left or closed. The lease itself handles charges, corrections and refunds in the queue.
 */
export interface Lease {
  /** Called when the kind of worker is known. Throws `overloaded` if the lease would be refused there now. */
  choose(kind: AssetKind): void;
  /** Enters the queue when the file is complete. Throws `overloaded` when there is no room. */
  enter(kind: AssetKind): void;
  probe(asset: Asset, limits: AssetLimits): Promise<AssetProbe>;
  /** `onProgress` is called regularly with the part of a video that is encoded, 0 to 1. */
  render(job: RenderJob, onProgress?: (fraction: number) => void): Promise<RenderFacts>;
  /** Throws `asset_too_heavy` for a render that can't end in time, as `render` does. For what is to be done before it. */
  assertFeasible(recipe: Recipe): void;
  /**
   * Gives the worker to others until the next step, for example to wait for another service. The next step goes first.
   */
  leave(): void;
  /** Must be called once, after the last step or instead of it. */
  close(): void;
}

/** The budget of a render without a waiting connection: all its attempts together have an hour. */
export const ASYNC_BUDGET_MS = 3_600_000;

export interface PoolStatus {
  readonly workers: number;
  readonly ready: number;
  readonly busy: number;
  readonly waiting: number;
  /** Waiting work, in estimated milliseconds of one worker. */
  readonly backlogMs: number;
  readonly restarts: number;
}

export interface RendererStatus {
  readonly images: PoolStatus;
  readonly videos: PoolStatus;
  /** The codecs of the video workers. Undefined until the first one is ready. */
  readonly codecs: CodecInfo | undefined;
  /** Set when there is a queue for workers on other machines. */
  readonly remote?: RemoteStatus;
}

/** The state of the broker, its workers and its queue, for operators and autoscalers. */
interface RemoteStatus {
  readonly isConnected: boolean;
  /** The worker machines that have announced themselves recently. */
  readonly workers: { readonly images: number; readonly videos: number };
  readonly queue: { readonly images: TicketCount; readonly videos: TicketCount };
}

interface TicketCount {
  readonly waiting: number;
  readonly taken: number;
}

export interface Renderer {
  /** Throws `overloaded` if a render of this account would be refused now, whatever its kind. */
  open(request: LeaseRequest): Lease;
  /** Returns why a render of this kind would be refused now. */
  refusal(account: string, kind: AssetKind): AppError | undefined;
  status(): RendererStatus;
  close(): Promise<void>;
}

/** Throws if neither kind of worker would take a render of the account. */
export function assertSomeRoom(renderer: Pick<Renderer, 'refusal'>, account: string): void {
  const refusal = renderer.refusal(account, 'image');
  if (refusal && renderer.refusal(account, 'video')) throw refusal;
}

/** Opens a lease, uses it and closes it. */
export async function withLease<Result>(
  renderer: Pick<Renderer, 'open'>,
  request: LeaseRequest,
  use: (lease: Lease) => Promise<Result>,
): Promise<Result> {
  const lease = renderer.open(request);
  try {
    return await use(lease);
  } finally {
    lease.close();
  }
}
