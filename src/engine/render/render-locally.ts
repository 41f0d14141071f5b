// Renders a parsed request in this process, for the library and for `storybar render`.

import { randomUUID } from 'node:crypto';
import { readFile, rename, rm } from 'node:fs/promises';
import type { CaptionForm } from '../caption/form.ts';
import { AppError } from '../../shared/errors.ts';
import { probeStill } from '../media/probe-still.ts';
import { isVideoFormat, sniff, type VideoFormat } from '../media/sniff.ts';
import { isAnimationFile, sniffFile } from '../media/sniff-file.ts';
import { must } from '../../shared/must.ts';
import { composeImageRecipe, composeTransparentRecipe, DEFAULT_IMAGE_LIMITS } from './recipe.ts';
import { type Rendered, type RenderFacts, renderOnImage, renderTransparent } from './render.ts';
import { createRenderTools, type RenderTools } from './renderer-tools.ts';
import type { VideoFacts } from './video.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS, type VideoLimits } from './video-recipe.ts';

export type LocalRequest = Pick<CaptionForm, 'overlays' | 'output' | 'canvas'>;

interface LocalOptions {
  readonly limits?: Partial<VideoLimits>;
  readonly signal?: AbortSignal;
}

export interface WriteOptions extends LocalOptions {
  readonly onProgress?: ((progress: { readonly frames: number; readonly totalFrames: number }) => void) | undefined;
}

/** `asset` is a path, or the bytes of the file. */
export async function renderImageLocally(
  { overlays, output }: LocalRequest,
  asset: string | Uint8Array,
  { maxPixels, signal }: { readonly maxPixels?: number; readonly signal?: AbortSignal } = {},
): Promise<Rendered> {
  const bytes = typeof asset === 'string' ? await readFile(asset) : asset;
  const format = sniff(bytes);
  if (format === undefined || isVideoFormat(format)) {
    throw new AppError(
      'unsupported_asset',
      "The asset isn't a JPEG, PNG, WebP, HEIC, AVIF or GIF image. The format is detected from the content, not from the name.",
    );
  }
  const limits = { imagePixels: maxPixels ?? DEFAULT_IMAGE_LIMITS.imagePixels };
  const recipe = composeImageRecipe(await probeStill(bytes, format), overlays, limits, { output });
  return await renderOnImage(recipe, bytes, sharedTools(), signal);
}

export async function renderVideoLocally(
  { overlays, output: requested }: LocalRequest,
  asset: string,
  output: string,
  options: WriteOptions,
): Promise<VideoFacts> {
  const format = await videoFormatOf(asset);
  const limits = { ...DEFAULT_VIDEO_LIMITS, ...options.limits };
  // Imported on demand, so that programs that caption only images never load the video libraries.
  const [{ probeVideo }, { renderOnVideo }] = await Promise.all([
    import('../media/video/probe/probe.ts'),
    import('./video.ts'),
  ]);
  const probe = probeVideo(asset, format, { maxSide: limits.videoSide });
  const recipe = composeVideoRecipe(probe, overlays, limits, requested);
  return await writeWhole(output, async (file) => await renderOnVideo(recipe, asset, file, sharedTools(), options));
}

/**
 * The output is written to a temporary file and then renamed, so that a failed render leaves no file, and `output` may be the
 * asset itself.
 */
async function writeWhole<Facts>(output: string, write: (file: string) => Promise<Facts>): Promise<Facts> {
  const unfinished = `${output}.${randomUUID()}.part`;
  try {
    const facts = await write(unfinished);
    await rename(unfinished, output);
    return facts;
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

export async function renderClipLocally(
  { overlays, output: requested, canvas }: LocalRequest,
  output: string,
  options: WriteOptions,
): Promise<RenderFacts> {
  const clip = must(requested.clip, 'the length of a transparent video');
  const limits = { ...DEFAULT_VIDEO_LIMITS, ...options.limits };
  const [{ renderClip }, { composeClipRecipe }] = await Promise.all([import('./clip.ts'), import('./clip-recipe.ts')]);
  const recipe = composeClipRecipe(must(canvas, 'the size'), overlays, limits, { ...requested, clip });
  return await writeWhole(output, async (file) => await renderClip(recipe, file, sharedTools(), options));
}

export async function renderCoverLocally(
  { overlays, output }: LocalRequest,
  asset: string,
  options: LocalOptions = {},
): Promise<Rendered> {
  const format = await videoFormatOf(asset);
  const limits = { ...DEFAULT_VIDEO_LIMITS, ...options.limits };
  const [{ probeVideo }, { renderCover }, { composeCoverRecipe }] = await Promise.all([
    import('../media/video/probe/probe.ts'),
    import('./cover.ts'),
    import('./cover-recipe.ts'),
  ]);
  const probe = probeVideo(asset, format, { maxSide: limits.videoSide });
  const recipe = composeCoverRecipe(probe, overlays, limits, { ...output, at: must(output.at, 'the time of a cover') });
  return await renderCover(recipe, asset, sharedTools(), options.signal);
}

export async function renderOverlayLocally({ overlays, output, canvas }: LocalRequest): Promise<Rendered> {
  return await renderTransparent(composeTransparentRecipe(must(canvas, 'the size'), overlays, output), sharedTools());
}

async function videoFormatOf(asset: string): Promise<VideoFormat> {
  const format = (await isAnimationFile(asset)) ? 'animation' : await sniffFile(asset);
  if (format !== undefined && isVideoFormat(format)) return format;
  throw new AppError(
    'unsupported_asset',
    "The asset isn't an MP4, MOV, WebM or Matroska video, a GIF or an animated WebP. The format is detected from the content, not from the name.",
  );
}

/** Fonts are loaded once per process, at the first render. */
let tools: RenderTools | undefined;
function sharedTools(): RenderTools {
  tools ??= createRenderTools();
  return tools;
}
