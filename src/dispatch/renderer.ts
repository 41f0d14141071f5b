// Where a render runs. Whoever asks knows only this interface: behind it are worker processes on this machine.

import type { ImageProbe } from '../media/image.ts';
import type { AssetFormat } from '../media/sniff.ts';
import type { Recipe } from '../render/recipe.ts';
import type { RenderFacts } from '../render/render.ts';

export interface StoredAsset {
  readonly path: string;
  readonly format: AssetFormat;
}

export interface RenderJob {
  readonly recipe: Recipe;
  /** Absent for a transparent overlay. */
  readonly asset: StoredAsset | undefined;
  /** Where the finished file goes. */
  readonly output: string;
}

export interface CrewStatus {
  readonly workers: number;
  readonly ready: number;
  readonly busy: number;
  readonly waiting: number;
  readonly restarts: number;
}

export interface RendererStatus {
  readonly images: CrewStatus;
}

export interface Renderer {
  probe(asset: StoredAsset, signal: AbortSignal): Promise<ImageProbe>;
  render(job: RenderJob, signal: AbortSignal): Promise<RenderFacts>;
  status(): RendererStatus;
  close(): Promise<void>;
}
