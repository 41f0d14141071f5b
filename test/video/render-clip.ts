import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Overlay } from '../../src/engine/caption/overlay.ts';
import { isVideoFormat, SNIFF_LENGTH, sniff, type VideoFormat } from '../../src/engine/media/sniff.ts';
import type { VideoProbe } from '../../src/engine/media/probe-schema.ts';
import { probeVideo } from '../../src/engine/media/video/probe/probe.ts';
import type { TranscodeOptions } from '../../src/engine/media/video/transcode-plan.ts';
import { createRenderTools } from '../../src/engine/render/renderer-tools.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS, type VideoRecipe } from '../../src/engine/render/video-recipe.ts';
import { renderOnVideo, type VideoFacts } from '../../src/engine/render/video.ts';
import { type ReadClip, readClip } from './clip.ts';

const tools = createRenderTools();

export function workDirectory(): { readonly path: (name: string) => string; readonly remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'storybar-video-'));
  return {
    path: (name) => join(directory, name),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function formatOf(path: string): VideoFormat {
  const format = sniff(readFileSync(path).subarray(0, SNIFF_LENGTH));
  if (format === undefined || !isVideoFormat(format)) throw new Error(`${path} is not a video`);
  return format;
}

export interface RenderedClip {
  readonly probe: VideoProbe;
  readonly recipe: VideoRecipe;
  readonly facts: VideoFacts;
  readonly clip: ReadClip;
}

export const CAPTION: readonly Overlay[] = [{ text: 'Hi', position: 50 }];

/** Probes, renders and reads a clip. The recipe goes through JSON, as on its way to a worker. */
export async function renderClip(
  path: string,
  outPath: string,
  overlays: readonly Overlay[] = CAPTION,
  options: TranscodeOptions = {},
  adjust: (recipe: VideoRecipe) => VideoRecipe = (recipe) => recipe,
): Promise<RenderedClip> {
  const probe = probeVideo(path, formatOf(path), { maxSide: DEFAULT_VIDEO_LIMITS.videoSide });
  const recipe = adjust(composeVideoRecipe(probe, overlays, DEFAULT_VIDEO_LIMITS));
  const received: VideoRecipe = JSON.parse(JSON.stringify(recipe));
  const facts = await renderOnVideo(received, path, outPath, tools, options);
  return { probe, recipe, facts, clip: readClip(outPath) };
}
