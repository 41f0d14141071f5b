import { type JoinPaths, joinSegments } from '../media/video/segments/join.ts';
import { encodeSegment } from '../media/video/segments/segment.ts';
import { transcode } from '../media/video/transcode.ts';
import type { TranscodeOptions } from '../media/video/transcode-plan.ts';
import { isTimed } from '../caption/timing-field.ts';
import { strokesFor } from '../layout/watermark.ts';
import { BarTimeline } from './bar-timeline.ts';
import { drawLayout, layOut } from './bands.ts';
import type { RenderFacts } from './render.ts';
import type { RenderTools } from './renderer-tools.ts';
import { Stopwatch } from './timing.ts';
import type { VideoRecipe } from './video-recipe.ts';

export interface VideoFacts extends RenderFacts {
  readonly durationSeconds: number;
  readonly frames: number;
}

/** Lays out the bars, then blends them onto the frames of the whole video or of one segment that show them. */
export async function renderOnVideo(
  recipe: VideoRecipe,
  assetPath: string,
  outPath: string,
  tools: RenderTools,
  options: TranscodeOptions = {},
): Promise<VideoFacts> {
  const stopwatch = new Stopwatch();
  const { layout, bars, missingGlyphs, warnings } = await layOut(recipe, tools, stopwatch);
  const strokes = recipe.watermark && strokesFor(layout.canvas);
  const timeline = new BarTimeline(layout, recipe.overlays, (shown) => drawLayout(shown, recipe, tools), strokes);
  // Bars with times are drawn while the video is encoded.
  if (!recipe.overlays.some(isTimed)) await stopwatch.step('draw', () => timeline.at(0));
  options.signal?.throwIfAborted();
  const facts = await stopwatch.step('encode', () =>
    recipe.piece?.type === 'segment'
      ? encodeSegment(recipe, recipe.piece.segment, assetPath, outPath, timeline, options)
      : transcode(recipe, assetPath, outPath, timeline, options),
  );
  return { ...recipe.canvas, ...facts, bars, missingGlyphs, warnings, timings: stopwatch.timings };
}

/** Joins separately rendered segments to the finished video. The segments already contain the bars. */
export async function joinVideo(
  recipe: VideoRecipe,
  paths: JoinPaths,
  options: TranscodeOptions = {},
): Promise<VideoFacts> {
  const { piece } = recipe;
  if (piece?.type !== 'join') throw new Error('the recipe is not one for joining segments');
  const stopwatch = new Stopwatch();
  const facts = await stopwatch.step('join', () => joinSegments(recipe, piece.segments, paths, options));
  return { ...recipe.canvas, ...facts, bars: [], missingGlyphs: 0, warnings: [], timings: stopwatch.timings };
}
