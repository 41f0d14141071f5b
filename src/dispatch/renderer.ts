// The interface to everything that renders. Callers know only this; behind it are worker processes on this machine or on
// others.

import type { Asset } from '../media/asset.ts';
import type { AssetKind } from '../media/sniff.ts';
import type { CodecInfo } from '../media/video/probe/codecs.ts';
import type { AssetLimits, AssetProbe, Recipe } from '../render/compose.ts';
import type { RenderFacts } from '../render/render.ts';

export interface RenderJob {
  readonly recipe: Recipe;
  /** Absent for a transparent overlay. */
  readonly asset: Asset | undefined;
  /** A further file that the recipe works on. */
  readonly attachment?: string;
  /** Path of the file to write. */
  readonly output: string;
}

/** Who a render is for and how long they can wait. */
export interface Requester {
  readonly account: string;
  /** Milliseconds for waiting and work together before the response comes too late. */
  readonly budgetMs: number;
  /** The id in the response's `x-render-id`, under which every process logs the render. */
  readonly renderId?: string;
  /** Called with a worker's name when it starts to work on the asset or the render. */
  readonly onAssigned?: (worker: string) => void;
  /** Called now and then with the part of a video that is encoded, 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
  /** Gives up the place from `Renderer.expect`. The queue calls it when the asset enters. */
  readonly leavePlace?: () => void;
}

/** The budget of a render that no connection waits for: all its attempts together have an hour. */
export const ASYNC_BUDGET_MS = 3_600_000;

/** Callers without an account share one account in the queue and have no deadline. */
export const ANONYMOUS: Requester = { account: '', budgetMs: Number.POSITIVE_INFINITY };

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
  /** What the video workers can decode and encode; undefined until the first one is ready. */
  readonly codecs: CodecInfo | undefined;
  /** Present when there is a queue for workers on other machines. */
  readonly remote?: RemoteStatus;
}

/** The state of the broker, its workers and its queue, for operators and autoscalers. */
interface RemoteStatus {
  readonly isConnected: boolean;
  /** Worker machines that have reported in recently. */
  readonly workers: { readonly images: number; readonly videos: number };
  readonly queue: { readonly images: TicketCount; readonly videos: TicketCount };
}

interface TicketCount {
  readonly waiting: number;
  readonly taken: number;
}

export interface Renderer {
  /** Throws `overloaded` if a render of this account would be refused now; without a kind, if any would. */
  assertRoom(account: string, kind?: AssetKind): void;
  /** Keeps a place in the queue for an asset that is about to be probed. Throws `overloaded` when there is none. */
  expect(account: string, kind: AssetKind): () => void;
  probe(asset: Asset, limits: AssetLimits, signal: AbortSignal, requester?: Requester): Promise<AssetProbe>;
  /** The render of a probed asset won't follow: gives back what the queue charged for it with the probe. */
  refund(asset: Asset, requester: Requester): void;
  render(job: RenderJob, signal: AbortSignal, requester?: Requester): Promise<RenderFacts>;
  status(): RendererStatus;
  close(): Promise<void>;
}
