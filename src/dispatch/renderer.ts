// Where a render runs. Whoever asks knows only this interface: behind it are worker processes, on this machine or elsewhere.

import type { Asset } from '../media/asset.ts';
import type { AssetKind } from '../media/sniff.ts';
import type { CodecInfo } from '../media/video/probe/codecs.ts';
import type { AssetLimits, AssetProbe, Recipe } from '../render/compose.ts';
import type { RenderFacts } from '../render/render.ts';

export interface RenderJob {
  readonly recipe: Recipe;
  /** Absent for a transparent overlay. */
  readonly asset: Asset | undefined;
  /** For the recipe that joins them: all segments, end to end in one file. */
  readonly segments?: string;
  /** Where the finished file goes. */
  readonly output: string;
}

/** For whom a render is, and how long they can wait: what a queue needs to be fair. */
export interface Share {
  readonly account: string;
  /** Milliseconds until the answer would come too late. */
  readonly budgetMs: number;
}

export interface PoolStatus {
  readonly workers: number;
  readonly ready: number;
  readonly busy: number;
  readonly waiting: number;
  /** Estimated milliseconds of work that wait, for one worker. */
  readonly backlogMs: number;
  readonly restarts: number;
}

export interface RendererStatus {
  readonly images: PoolStatus;
  readonly videos: PoolStatus;
  /** What the video workers can decode and encode; unknown until the first is ready. */
  readonly codecs: CodecInfo | undefined;
  /** Present when renders go to workers elsewhere. */
  readonly remote?: RemoteStatus;
}

/** For people and autoscalers: is the queue there, who serves it, and how much lies in it. */
interface RemoteStatus {
  readonly isConnected: boolean;
  /** Worker machines heard of lately. */
  readonly workers: { readonly images: number; readonly videos: number };
  readonly queue: { readonly images: TicketCount; readonly videos: TicketCount };
}

interface TicketCount {
  readonly waiting: number;
  readonly taken: number;
}

export interface Renderer {
  /** Throws `overloaded` when a render of this account would be turned away now; without a kind, when any would. */
  assertRoom(account: string, kind?: AssetKind): void;
  probe(asset: Asset, limits: AssetLimits, signal: AbortSignal, share?: Share): Promise<AssetProbe>;
  render(job: RenderJob, signal: AbortSignal, share?: Share): Promise<RenderFacts>;
  status(): RendererStatus;
  close(): Promise<void>;
}
