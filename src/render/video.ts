import { type JoinPaths, joinSegments } from '../media/video/segments/join.ts';
import { encodeSegment } from '../media/video/segments/segment.ts';
import { transcode } from '../media/video/transcode.ts';
import type { TranscodeOptions } from '../media/video/transcode-plan.ts';
import { toPlanarBand } from '../raster/planar.ts';
import { drawBands } from './bands.ts';
import type { RenderFacts } from './render.ts';
import type { RenderTools } from './renderer-tools.ts';
import { Stopwatch } from './timing.ts';
import type { VideoRecipe } from './video-recipe.ts';

export interface VideoFacts extends RenderFacts {
  readonly durationSeconds: number;
  readonly frames: number;
}

/** Draws the bars once, then overlays them on every frame of the whole video or of one segment. */
export async function renderOnVideo(
  recipe: VideoRecipe,
  assetPath: string,
  outPath: string,
  tools: RenderTools,
  options: TranscodeOptions = {},
): Promise<VideoFacts> {
  const stopwatch = new Stopwatch();
  const { bands, ...drawn } = await drawBands(recipe, tools, stopwatch);
  const planar = await stopwatch.step('convert', () => bands.map(toPlanarBand));
  options.signal?.throwIfAborted();
  const facts = await stopwatch.step('encode', () =>
    recipe.piece?.type === 'segment'
      ? encodeSegment(recipe, recipe.piece.segment, assetPath, outPath, planar, options)
      : transcode(recipe, assetPath, outPath, planar, options),
  );
  return { ...recipe.canvas, ...facts, ...drawn, timings: stopwatch.timings };
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
