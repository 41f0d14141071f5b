import { transcode } from '../media/video/transcode.ts';
import type { TranscodeFacts, TranscodeOptions } from '../media/video/transcode-plan.ts';
import { transcodeWithin } from '../media/video/transcode-within.ts';
import { isTimed } from '../caption/timing-field.ts';
import type { Layout } from '../layout/layout.ts';
import { strokesFor } from '../layout/watermark.ts';
import type { Band } from '../raster/band.ts';
import type { DrawnPages } from '../raster/text-engine.ts';
import { BarTimeline } from './bar-timeline.ts';
import { drawLayout, layOut } from './bands.ts';
import { drawLogo, planarLogo } from './logo.ts';
import type { RenderFacts } from './render.ts';
import type { RenderTools } from './renderer-tools.ts';
import { Stopwatch } from './timing.ts';
import type { VideoRecipe } from './video-recipe.ts';

export interface VideoFacts extends RenderFacts {
  readonly durationSeconds: number;
  readonly frames: number;
}

/** Lays out the bars, then blends them onto the frames that show them. */
export async function renderOnVideo(
  recipe: VideoRecipe,
  assetPath: string,
  outPath: string,
  tools: RenderTools,
  options: TranscodeOptions = {},
): Promise<VideoFacts> {
  const stopwatch = new Stopwatch();
  const { layout, logoPlace, bars, missingGlyphs, warnings } = await layOut(recipe, tools, stopwatch);
  const strokes = recipe.watermark && strokesFor(layout.canvas);
  const logo = await drawLogo(recipe, logoPlace);
  const draw = (shown: Layout, pages: DrawnPages): readonly Band[] => drawLayout(shown, recipe, tools, { pages });
  const timeline = new BarTimeline(layout, draw, { strokes, always: logo ? [planarLogo(logo)] : [] });
  // Bars with times are drawn while the video is encoded.
  if (!recipe.overlays.some(isTimed)) await stopwatch.step('draw', () => timeline.at(0));
  options.signal?.throwIfAborted();
  const facts = await stopwatch.step('encode', () => encode(recipe, assetPath, outPath, timeline, options));
  return { ...recipe.canvas, ...facts, bars, missingGlyphs, warnings, timings: stopwatch.timings };
}

async function encode(
  recipe: VideoRecipe,
  assetPath: string,
  outPath: string,
  timeline: BarTimeline,
  options: TranscodeOptions,
): Promise<TranscodeFacts & Pick<RenderFacts, 'quality'>> {
  const { maxBytes } = recipe;
  if (maxBytes === undefined) return await transcode(recipe, assetPath, outPath, timeline, options);
  return await transcodeWithin(maxBytes, recipe, assetPath, outPath, timeline, options);
}
