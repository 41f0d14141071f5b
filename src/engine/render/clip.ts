// Renders a transparent video: the bars over time, without an asset. A frame is drawn and encoded when the bars change.

import { writeFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { strokesFor, type Strokes } from '../layout/watermark.ts';
import { AlphaEncoder } from '../media/video/alpha-encoder.ts';
import type { TranscodeOptions } from '../media/video/transcode-plan.ts';
import { rethrowAsStorageError } from '../media/work-area.ts';
import type { Band } from '../raster/band.ts';
import { bakeBands } from '../raster/blend.ts';
import { AnimatedPng } from '../raster/png/animated.ts';
import { strokeImage } from '../raster/strokes.ts';
import { BarTimeline } from './bar-timeline.ts';
import { drawLayout, layOut } from './bands.ts';
import type { ClipRecipe } from './clip-recipe.ts';
import { drawLogo } from './logo.ts';
import type { RenderTools } from './renderer-tools.ts';
import type { RenderFacts } from './render.ts';
import { Stopwatch } from './timing.ts';

export async function renderClip(
  recipe: ClipRecipe,
  outPath: string,
  tools: RenderTools,
  options: TranscodeOptions = {},
): Promise<RenderFacts> {
  const stopwatch = new Stopwatch();
  const { layout, logoPlace, bars, missingGlyphs, warnings } = await layOut(recipe, tools, stopwatch);
  const strokes = recipe.watermark && strokesFor(layout.canvas);
  const logo = await drawLogo(recipe, logoPlace);
  const timeline = new BarTimeline(layout, (shown, pages) => drawLayout(shown, recipe, tools, { pages, logo }));
  await stopwatch.step('encode', () => encode(recipe, outPath, { timeline, strokes, tools, options }));
  return { ...recipe.canvas, bars, missingGlyphs, warnings, timings: stopwatch.timings };
}

interface ClipParts {
  readonly timeline: BarTimeline;
  readonly strokes: Strokes | undefined;
  readonly tools: RenderTools;
  readonly options: TranscodeOptions;
}

async function encode(recipe: ClipRecipe, outPath: string, parts: ClipParts): Promise<void> {
  const { canvas, fps, output } = recipe;
  const { strokes, tools } = parts;
  if (output.format === 'apng') {
    const png = new AnimatedPng(canvas, fps, tools.zeros, strokes);
    await eachState(recipe, parts, ({ bands, ticks }) => png.add(bands, ticks));
    await writeFile(outPath, png.finish()).catch(rethrowAsStorageError);
    return;
  }
  const encoder = new AlphaEncoder(outPath, output.format, canvas, fps);
  try {
    await eachState(recipe, parts, ({ bands, start, ticks }) => {
      const image = { ...canvas, channels: 4, data: new Uint8Array(canvas.width * canvas.height * 4) } as const;
      bakeBands(image, bands);
      if (strokes) strokeImage(strokes, image);
      encoder.add(image.data, start, ticks);
    });
    encoder.finish();
  } finally {
    encoder.free();
  }
}

/** Bars that are shown for some frames. */
interface CaptionState {
  readonly bands: readonly Band[];
  readonly start: number;
  readonly ticks: number;
}

async function eachState(
  { frames, fps }: ClipRecipe,
  { timeline, options: { signal, onProgress } }: ClipParts,
  use: (state: CaptionState) => void,
): Promise<void> {
  let start = 0;
  let bands = timeline.drawnAt(0);
  for (let frame = 1; frame <= frames; frame += 1) {
    const next = frame === frames ? undefined : timeline.drawnAt(Math.round((frame * 1_000) / fps));
    if (next === bands) continue;
    use({ bands, start, ticks: frame - start });
    onProgress?.({ frames: frame, totalFrames: frames });
    await setImmediate();
    signal?.throwIfAborted();
    if (next === undefined) return;
    [start, bands] = [frame, next];
  }
}
