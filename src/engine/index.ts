// Entry point of the library: the renderer of the API without a server, a store or settings. It decodes in the calling
// process. For untrusted files, use the server, which runs decoders in a sandbox.

import type { Form } from './caption/field-reader.ts';
import type { FitMode } from './caption/fit.ts';
import { type CaptionForm, parseForm, refuseBrandFiles } from './caption/form.ts';
import type { RequestedOverlay } from './caption/overlay.ts';
import type { ColorSpace, FormatOf } from './caption/output-format.ts';
import { RENDER_FIELDS } from './caption/request-fields.ts';
import type { SafeAreaName } from './caption/safe-area.ts';
import type { RequestedStyle } from './caption/style.ts';
import {
  renderClipLocally,
  renderCoverLocally,
  renderImageLocally,
  renderOverlayLocally,
  renderVideoLocally,
} from './render/render-locally.ts';
import type { Rendered, RenderFacts } from './render/render.ts';
import type { VideoFacts } from './render/video.ts';
import type { VideoLimits } from './render/video-recipe.ts';

export type { ErrorCode } from '../shared/error-table.ts';
export { AppError as StorybarError, type FieldFault } from '../shared/errors.ts';
export type { SafeAreaName } from './caption/safe-area.ts';
export type { CaptionStyle } from './caption/style.ts';
export type { StylePreset } from './caption/style-presets.ts';
export type { Rendered, RenderFacts } from './render/render.ts';
export type { VideoFacts } from './render/video.ts';

/**
 * One caption in the middle, or several with positions in percent of the height and languages (BCP 47), or the subtitles or
 * the transcript of a video.
 */
export type Captions = string | readonly CaptionOptions[] | SubtitleOptions;

export type CaptionOptions = RequestedOverlay;

export interface SubtitleOptions {
  /** The content of an SRT or WebVTT file, cues, or the transcript of a speech-to-text service, as a value or as JSON. */
  readonly captions: string | object;
  /** The most words of a page, 1 to 12. */
  readonly maxWords?: number | null;
  /** The most lines of a page, 1 to 4. Default: 2, for transcripts. */
  readonly maxLines?: number | null;
  /** The position of all cues. Default: 80. */
  readonly position?: number | null;
  readonly lang?: string | null;
}

/** The size of the result, and how an asset with another aspect ratio gets it. */
export interface RequestedFit {
  readonly mode: FitMode;
  /** The color beside a padded asset, as `#rrggbb`. Default: black. */
  readonly color?: string;
  readonly width: number;
  readonly height: number;
}

/** Options that apply to all captions of a render. */
export interface LookOptions {
  /** The style of captions that have none of their own. */
  readonly style?: RequestedStyle;
  /** Keeps captions clear of an app's own controls, on portrait images and videos of about 9:16. */
  readonly safeArea?: SafeAreaName;
}

export interface ImageOptions extends LookOptions {
  /** The maximum number of pixels. Larger images are refused. Default: 50 million. */
  readonly maxPixels?: number;
  /** Default: `png`. A JPEG that stays a JPEG isn't compressed again, unless there is a quality. */
  readonly format?: FormatOf<'image'>;
  /** The quality of JPEG and WebP, 1 to 100. Default: 90. */
  readonly quality?: number;
  /** The most bytes of a JPEG or WebP. The quality is the best that fits. */
  readonly maxBytes?: number;
  /** For a JPEG that stays a JPEG, `source` keeps its color profile and pixels, and `srgb` converts it. Default: `source`. */
  readonly colorSpace?: ColorSpace;
  /** The size of the result, and how the image gets it: blurred at the sides, cropped or padded. */
  readonly fit?: RequestedFit;
  readonly signal?: AbortSignal;
}

export interface OverlayOptions extends LookOptions {
  /** Default: `png`. Both are lossless. */
  readonly format?: FormatOf<'canvas'>;
}

/**
 * Puts caption bars on a JPEG, PNG, WebP, HEIC, AVIF or GIF (a path, or the file's bytes) and returns a PNG, JPEG or
 * WebP.
 */
export async function renderImage(
  asset: string | Uint8Array,
  captions: Captions,
  options: ImageOptions = {},
): Promise<Rendered> {
  return await renderImageLocally(parse(captions, options, 'image'), asset, options);
}

export interface VideoOptions extends LookOptions {
  /** Videos beyond these limits are refused. Default: 60 seconds, 4096 pixels per side, 60 frames per second. */
  readonly limits?: Partial<VideoLimits>;
  /** The size of the result, and how the video gets it. Sides must be even. */
  readonly fit?: RequestedFit;
  /** The most bytes of the file. The quality is the best that fits. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly frames: number; readonly totalFrames: number }) => void;
}

export interface CoverOptions extends LookOptions {
  /** Seconds from the first frame. */
  readonly at: number;
  /** Default: `png`. */
  readonly format?: FormatOf<'frame'>;
  /** The quality of JPEG and WebP, 1 to 100. Default: 90. */
  readonly quality?: number;
  /** The most bytes of a JPEG or WebP. The quality is the best that fits. */
  readonly maxBytes?: number;
  readonly fit?: RequestedFit;
  readonly limits?: Partial<VideoLimits>;
  readonly signal?: AbortSignal;
}

/** Puts caption bars on an MP4, MOV, WebM or Matroska file, or on an animated GIF or WebP, and writes an MP4. */
export async function renderVideo(
  asset: string,
  output: string,
  captions: Captions,
  options: VideoOptions = {},
): Promise<VideoFacts> {
  return await renderVideoLocally(parse(captions, options, 'video'), asset, output, options);
}

export interface ClipOptions extends LookOptions {
  /** The length in seconds. */
  readonly duration: number;
  /** Frames per second, 1 to 60. Default: 30. */
  readonly fps?: number;
  /** Default: `webm`. */
  readonly format?: FormatOf<'clip'>;
  readonly limits?: Partial<VideoLimits>;
  readonly signal?: AbortSignal;
  readonly onProgress?: VideoOptions['onProgress'];
}

/** Writes a transparent video with only the caption bars: a WebM, a MOV (ProRes 4444) or an APNG. */
export async function renderCaptionClip(
  size: { readonly width: number; readonly height: number },
  output: string,
  captions: Captions,
  options: ClipOptions,
): Promise<RenderFacts> {
  return await renderClipLocally(parse(captions, { ...options, ...size }), output, options);
}

/** Returns the frame of a video at a time, in seconds from the first frame, as an image with the caption bars that it shows. */
export async function renderCover(asset: string, captions: Captions, options: CoverOptions): Promise<Rendered> {
  return await renderCoverLocally(parse(captions, options, 'video'), asset, options);
}

/**
 * Returns a transparent PNG or WebP with only the caption bars. Composited on an image of that size, it gives the same
 * result as `renderImage`.
 */
export async function renderOverlay(
  size: { readonly width: number; readonly height: number },
  captions: Captions,
  options: OverlayOptions = {},
): Promise<Rendered> {
  return await renderOverlayLocally(parse(captions, { ...options, ...size }));
}

type RequestOptions = LookOptions & { readonly fit?: RequestedFit };

/** Checks captions and options as the API checks the fields of a request in JSON, which have the same names. */
function parse(captions: Captions, options: RequestOptions, assetKind?: Form['assetKind']): CaptionForm {
  const { fit, ...others } = options;
  const { width, height, ...fitted } = fit ?? {};
  const values = { ...captionsAsFields(captions), ...others, ...(fit && { width, height, fit: fitted }) };
  const fields = Object.entries(values)
    .map(([name, value]) => ({
      name: name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`),
      value: value ?? null,
    }))
    .filter(({ name }) => Object.hasOwn(RENDER_FIELDS, name));
  const parsed = parseForm({ fields, isJson: true, hasAsset: assetKind !== undefined, assetKind, faults: [] });
  refuseBrandFiles(parsed);
  return parsed;
}

function captionsAsFields(captions: Captions): Readonly<Record<string, unknown>> {
  if (typeof captions === 'string') return { text: captions };
  return 'captions' in captions ? { ...captions } : { overlays: captions };
}
