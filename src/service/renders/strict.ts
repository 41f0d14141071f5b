// `strict`: a layout that would need a warning is refused before credits are reserved and before anything is drawn.

import type { Overlay } from '../../engine/caption/overlay.ts';
import { toWebVtt } from '../../engine/caption/words/webvtt.ts';
import type { Lease } from '../dispatch/renderer.ts';
import { AppError } from '../../shared/errors.ts';
import type { LazyDirectory } from '../../engine/media/work-area.ts';
import { must } from '../../shared/must.ts';
import type { BaseLayer } from '../../engine/render/compose.ts';
import { composeLayoutRecipe } from '../../engine/render/recipe.ts';
import type { RecipeLogo } from '../../engine/render/logo.ts';
import type { RenderFacts } from '../../engine/render/render.ts';
import { strictWarnings } from '../../engine/render/warnings.ts';

interface LayoutWork {
  readonly lease: Pick<Lease, 'render'>;
  readonly directory: LazyDirectory;
}

interface Captions {
  readonly overlays: readonly Overlay[];
  /** Seconds from the first frame of a video to its last. */
  readonly lastFrame?: number | undefined;
  readonly logo?: RecipeLogo | undefined;
}

/** Lays the captions out in a worker, because the server process has no fonts. */
export async function layoutOf(
  { lease, directory }: LayoutWork,
  { width, height }: Pick<BaseLayer, 'width' | 'height'>,
  { overlays, lastFrame, logo }: Captions,
): Promise<RenderFacts> {
  await directory.make();
  const recipe = composeLayoutRecipe({ width, height }, overlays, { lastFrame, logo });
  return await lease.render({ recipe, asset: undefined, output: directory.file('layout') });
}

/** The pages of a layout with the times of their words. Null if it has no pages. */
export function webVttOf({ layout }: Pick<RenderFacts, 'layout'>): string | null {
  const pages = must(layout, 'the layout').flatMap(({ page }) => (page ? [page] : []));
  return pages.length === 0 ? null : toWebVtt(pages);
}

export function assertNoWarnings(facts: Pick<RenderFacts, 'warnings'>): void {
  const warnings = strictWarnings(facts.warnings);
  if (warnings.length === 0) return;
  const detail = `The captions have warnings, which strict doesn't allow: ${warnings.join(', ')}.`;
  throw new AppError('strict_warnings', detail, { warnings });
}
