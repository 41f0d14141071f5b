// A recipe contains every decision about a render. Pure functions compute it from the request, the probe and the limits
// of the caller before the render starts. It is plain JSON, so it can run in this process, in a worker process or on
// another machine, where this schema checks it. The API server is trusted, so numbers are only checked where a worker
// would otherwise misbehave.

import { z } from 'zod';
import { FORMATS_OF, isLossy, type FormatOf, type LossyFormat } from '../caption/output-format.ts';
import { FIT_COLOR, FIT_MODES } from '../caption/fit.ts';
import { LOGO_FIELD, MAX_LOGO_PNG_BYTES } from '../caption/logo.ts';
import { MAX_CAPTIONS_BYTES, type Overlay, OVERLAY_FIELDS } from '../caption/overlay.ts';
import { CAPTION_FIELDS, FILE_FIELDS } from '../caption/request-fields.ts';
import { SAFE_AREAS } from '../caption/safe-area.ts';
import { STYLE_FIELDS } from '../caption/style.ts';
import { MAX_WORDS } from '../caption/words/timed-words.ts';
import type { FilterStep } from '../media/video/frames/steps.ts';
import { optionalFields, schemaOf } from '../../shared/zod-schema.ts';
import {
  audioSourceSchema,
  colorConversionSchema,
  frameRateSchema,
  imageDecoderSchema,
  secondsSchema,
  sizeSchema,
  videoFormatSchema,
  videoSourceSchema,
} from '../media/probe-schema.ts';

const MAX_FRAME_STEP = 1_000;

const qualitySchema = schemaOf(FILE_FIELDS.quality);
const maxBytesSchema = z.int().positive().exactOptional();

const LOSSLESS_FORMATS = FORMATS_OF.image.filter(
  (format): format is Exclude<FormatOf<'image'>, LossyFormat> => !isLossy(format),
);
/** JPEG has more options than the others. */
const LOSSY_FORMATS = FORMATS_OF.image.filter(
  (format): format is Exclude<LossyFormat, 'jpeg'> => isLossy(format) && format !== 'jpeg',
);

const { text: _text, position: positionField, style: _style, ...overlayFields } = OVERLAY_FIELDS;

const pagingSchema = z.object({
  maxWords: schemaOf(CAPTION_FIELDS.max_words).exactOptional(),
  maxLines: schemaOf(CAPTION_FIELDS.max_lines),
});
const offsetSchema = z.int().min(0).max(MAX_CAPTIONS_BYTES);
const wordSchema = z.object({ from: offsetSchema, to: offsetSchema, start: z.number(), end: z.number() });

const { corner, width, margin, opacity } = LOGO_FIELD.properties;
const logoSchema = z.object({
  corner: schemaOf(corner),
  width: schemaOf(width),
  margin: schemaOf(margin),
  opacity: schemaOf(opacity),
  /** The size of the image in pixels. */
  pixels: sizeSchema,
  /** The image itself, as Base64 of a PNG in sRGB. Absent where nothing is drawn. */
  png: z
    .base64()
    .max(Math.ceil(MAX_LOGO_PNG_BYTES / 3) * 4)
    .exactOptional(),
});

const overlaysSchema: z.ZodType<readonly Overlay[]> = z.array(
  z.object({
    // A phrase that becomes pages is longer than a caption.
    text: z.string().max(MAX_CAPTIONS_BYTES),
    position: schemaOf(positionField).nullable(),
    ...optionalFields(overlayFields),
    style: z.object(optionalFields(STYLE_FIELDS)).exactOptional(),
    safeArea: z.enum(SAFE_AREAS).exactOptional(),
    isCue: z.literal(true).exactOptional(),
    words: z.array(wordSchema).max(MAX_WORDS).exactOptional(),
    isEstimated: z.literal(true).exactOptional(),
    paging: pagingSchema.exactOptional(),
  }),
);

/** Every recipe that draws captions. */
const baseFields = {
  /** The size of the output, upright. */
  canvas: sizeSchema,
  overlays: overlaysSchema,
  logo: logoSchema.exactOptional(),
  /** Seconds from the first frame of a video to its last. Without it, the times of overlays are ignored. */
  lastFrame: z.number().min(0).exactOptional(),
  /** How long the sound of a video plays before its first frame, in seconds. The times of cues count from the sound. */
  soundLead: z.number().min(0).exactOptional(),
  /** Set for renders with a test key or without a key. */
  watermark: z.literal(true).exactOptional(),
  /** The size of the asset, if it is fitted into the canvas. */
  source: sizeSchema.exactOptional(),
  /** Set for an asset that is enlarged so much that it looks soft. */
  isUpscaled: z.literal(true).exactOptional(),
};

const fitSchema = sizeSchema.extend({ mode: z.enum(FIT_MODES), color: schemaOf(FIT_COLOR) });

const imageOutputSchema = z.discriminatedUnion('format', [
  z.object({ format: z.enum(LOSSLESS_FORMATS) }),
  z.object({ format: z.enum(LOSSY_FORMATS), quality: qualitySchema, maxBytes: maxBytesSchema }),
  z.object({
    format: z.literal('jpeg'),
    quality: qualitySchema,
    /** The most bytes. Then the best quality that fits replaces the one above. */
    maxBytes: maxBytesSchema,
    /**
     * The EXIF orientation of a JPEG whose compressed data is kept outside the bars, and turned upright, if its encoding
     * allows it. The quality is for other JPEGs.
     */
    keptOrientation: z.int().min(1).max(8).exactOptional(),
    /** A JPEG that is kept also keeps its color profile, if the colors of bars can be converted to it. */
    keepsProfile: z.literal(true).exactOptional(),
    /** A JPEG that can't be kept is encoded with its own tables, unless they are too coarse for text. */
    likeSource: z.object({ orientation: z.int().min(1).max(8) }).exactOptional(),
  }),
]);

const stepsSchema: z.ZodType<readonly FilterStep[]> = z.array(
  z.object({
    filter: z.string(),
    args: z.string(),
    name: z.string().exactOptional(),
    from: z.array(z.string()).exactOptional(),
  }),
);

const boundsSchema = z.object({
  frames: z.number().positive(),
  bytes: z.number().positive(),
  pixels: z.number().positive(),
});

export const recipeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('transparent'),
    ...baseFields,
    /** Every format is lossless here. */
    output: z.object({ format: z.enum(FORMATS_OF.canvas) }),
    /** The time of a video frame in milliseconds. Only its bars are drawn, but all are laid out. */
    shownAt: z.number().min(0).exactOptional(),
  }),
  /** Only lays out the captions; see `layout-report.ts`. */
  z.object({ kind: z.literal('layout'), ...baseFields }),
  /** Only writes a font anew that was uploaded; see `media/font/rewrite.ts`. */
  z.object({ kind: z.literal('font') }),
  /** Only extracts the sound of a video, for speech recognition; see `speech-track.ts`. */
  z.object({
    kind: z.literal('sound'),
    format: videoFormatSchema,
    audio: audioSourceSchema,
    offset: z.number(),
    seconds: secondsSchema,
  }),
  z.object({
    kind: z.literal('image'),
    ...baseFields,
    decode: z.object({
      maxPixels: z.number().positive(),
      ignoreProfile: z.boolean(),
      color: colorConversionSchema.exactOptional(),
      scaleTo: z.object({ width: z.int().min(1), height: z.int().min(1) }).exactOptional(),
      crops: z.literal(true).exactOptional(),
      decoder: imageDecoderSchema.exactOptional(),
    }),
    /** What surrounds an image that is smaller than the canvas. */
    surround: z
      .object({ fill: z.union([z.literal('blur'), schemaOf(FIT_COLOR)]), left: z.int().min(0), top: z.int().min(0) })
      .exactOptional(),
    output: imageOutputSchema,
  }),
  z.object({
    kind: z.literal('video'),
    ...baseFields,
    lastFrame: z.number().min(0),
    durationSeconds: secondsSchema,
    format: videoFormatSchema,
    video: videoSourceSchema,
    audio: audioSourceSchema.nullable(),
    frameRate: frameRateSchema,
    frameStep: z.int().min(1).max(MAX_FRAME_STEP),
    /** True if the source has audio, but none that can be decoded. */
    isAudioDropped: z.boolean().exactOptional(),
    offset: z.number(),
    steps: stepsSchema,
    fit: fitSchema.exactOptional(),
    encoder: z.object({
      preset: z.string(),
      crf: z.number(),
      maxRate: z.number().positive(),
      bufferSize: z.number().positive(),
      keyframeInterval: z.int().min(1),
    }),
    bounds: boundsSchema,
    /** The most bytes of the output. */
    maxBytes: maxBytesSchema,
  }),
  z.object({
    kind: z.literal('cover'),
    ...baseFields,
    lastFrame: z.number().min(0),
    format: videoFormatSchema,
    video: videoSourceSchema,
    steps: stepsSchema,
    fit: fitSchema.exactOptional(),
    bounds: boundsSchema,
    /** The time of the cover in milliseconds after the first frame. */
    shownAt: z.number().min(0),
    /** Seconds of video that have to be decoded, from the keyframe before the cover. */
    decodedSeconds: z.number().min(0),
    output: imageOutputSchema,
  }),
  z.object({
    kind: z.literal('clip'),
    ...baseFields,
    lastFrame: z.number().min(0),
    durationSeconds: secondsSchema,
    fps: z.int().min(1),
    frames: z.int().min(1),
    output: z.object({ format: z.enum(FORMATS_OF.clip) }),
  }),
]);

export type Recipe = z.infer<typeof recipeSchema>;
export type RecipeOf<Kind extends Recipe['kind']> = Extract<Recipe, { readonly kind: Kind }>;
