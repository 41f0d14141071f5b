// The schema of a recipe that is sent to a worker on another machine. The API server is trusted, so numbers are only
// checked where a worker would otherwise misbehave. Every field must be present and have the right type.

import { z } from 'zod';
import { FORMATS_OF, isLossy, type FormatOf, type LossyFormat } from '../../../caption/output-format.ts';
import { FIT_COLOR, FIT_MODES } from '../../../caption/fit.ts';
import { LOGO_FIELD, MAX_LOGO_PNG_BYTES } from '../../../caption/logo.ts';
import { MAX_CAPTIONS_BYTES, OVERLAY_FIELDS } from '../../../caption/overlay.ts';
import { CAPTION_FIELDS, FILE_FIELDS } from '../../../caption/request-fields.ts';
import { SAFE_AREAS } from '../../../caption/safe-area.ts';
import { STYLE_FIELDS } from '../../../caption/style.ts';
import { MAX_WORDS } from '../../../caption/words/timed-words.ts';
import { optionalFields, schemaOf } from '../../../primitives/zod-schema.ts';
import {
  audioSourceSchema,
  colorConversionSchema,
  frameRateSchema,
  imageDecoderSchema,
  secondsSchema,
  sizeSchema,
  videoFormatSchema,
  videoSourceSchema,
} from '../../probe-schema.ts';

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
  pixels: sizeSchema,
  png: z
    .base64()
    .max(Math.ceil(MAX_LOGO_PNG_BYTES / 3) * 4)
    .exactOptional(),
});

const baseFields = {
  canvas: sizeSchema,
  overlays: z.array(
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
  ),
  logo: logoSchema.exactOptional(),
  lastFrame: z.number().min(0).exactOptional(),
  soundLead: z.number().min(0).exactOptional(),
  watermark: z.literal(true).exactOptional(),
  source: sizeSchema.exactOptional(),
  isUpscaled: z.literal(true).exactOptional(),
};

const fitSchema = sizeSchema.extend({ mode: z.enum(FIT_MODES), color: schemaOf(FIT_COLOR) });

const imageOutputSchema = z.discriminatedUnion('format', [
  z.object({ format: z.enum(LOSSLESS_FORMATS) }),
  z.object({ format: z.enum(LOSSY_FORMATS), quality: qualitySchema, maxBytes: maxBytesSchema }),
  z.object({
    format: z.literal('jpeg'),
    quality: qualitySchema,
    maxBytes: maxBytesSchema,
    keptOrientation: z.int().min(1).max(8).exactOptional(),
    keepsProfile: z.literal(true).exactOptional(),
    likeSource: z.object({ orientation: z.int().min(1).max(8) }).exactOptional(),
  }),
]);

const stepsSchema = z.array(
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
    output: z.object({ format: z.enum(FORMATS_OF.canvas) }),
    shownAt: z.number().min(0).exactOptional(),
  }),
  z.object({ kind: z.literal('layout'), ...baseFields }),
  z.object({ kind: z.literal('font'), ...baseFields }),
  z.object({
    kind: z.literal('sound'),
    ...baseFields,
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
    shownAt: z.number().min(0),
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
