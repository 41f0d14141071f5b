// `strict`: a layout that would need a warning is refused before credits are reserved and before anything is drawn.

import type { Overlay } from '../../caption/overlay.ts';
import type { Renderer, Requester } from '../../dispatch/renderer.ts';
import { AppError } from '../../errors.ts';
import type { LazyDirectory } from '../../media/work-area.ts';
import type { BaseLayer } from '../../render/compose.ts';
import { composeLayoutRecipe } from '../../render/recipe.ts';
import type { RenderFacts } from '../../render/render.ts';

export interface LayoutWork {
  readonly renderer: Pick<Renderer, 'render'>;
  readonly directory: LazyDirectory;
  readonly signal: AbortSignal;
  readonly requester: Requester;
  /** Seconds from the first frame of a video to its last. */
  readonly lastFrame?: number | undefined;
}

/** Lays the captions out in a worker, because the server process has no fonts. */
export async function layoutOf(
  { width, height }: Pick<BaseLayer, 'width' | 'height'>,
  overlays: readonly Overlay[],
  { renderer, directory, signal, requester, lastFrame }: LayoutWork,
): Promise<RenderFacts> {
  await directory.make();
  const job = { recipe: composeLayoutRecipe({ width, height }, overlays, lastFrame), asset: undefined };
  return await renderer.render({ ...job, output: directory.file('layout') }, signal, requester);
}

export function assertNoWarnings({ warnings }: Pick<RenderFacts, 'warnings'>): void {
  if (warnings.length === 0) return;
  const detail = `The captions have warnings, which strict doesn't allow: ${warnings.join(', ')}.`;
  throw new AppError('strict_warnings', detail, { warnings });
}
