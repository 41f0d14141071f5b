// The shape of a recipe on its way to a worker on another machine. The API server is trusted, so numbers are only checked
// where a worker would otherwise misbehave; what matters is that every field is there and of the right type.

import { z } from 'zod';
import { SAFE_AREAS } from '../../../caption/safe-area-field.ts';
import { ALIGNMENTS, MAX_STYLE_SIZE, MIN_STYLE_SIZE, STYLE_PRESETS, WEIGHTS } from '../../../caption/style-field.ts';
import {
  audioSourceSchema,
  colorConversionSchema,
  cutsSchema,
  frameRateSchema,
  imageDecoderSchema,
  secondsSchema,
  sizeSchema,
  videoFormatSchema,
  videoSourceSchema,
} from '../../probe-schema.ts';

const MAX_FRAME_STEP = 1_000;

const qualitySchema = z.int().min(1).max(100);

const styleSchema = z.object({
  preset: z.enum(STYLE_PRESETS).exactOptional(),
  color: z.string().exactOptional(),
  background: z.string().exactOptional(),
  size: z.number().min(MIN_STYLE_SIZE).max(MAX_STYLE_SIZE).exactOptional(),
  align: z.enum(ALIGNMENTS).exactOptional(),
  weight: z.enum(WEIGHTS).exactOptional(),
});

const baseFields = {
  canvas: sizeSchema,
  overlays: z.array(
    z.object({
      text: z.string(),
      position: z.number().min(0).max(100).nullable(),
      lang: z.string().exactOptional(),
      style: styleSchema.exactOptional(),
      safeArea: z.enum(SAFE_AREAS).exactOptional(),
      start: z.number().min(0).exactOptional(),
      end: z.number().positive().exactOptional(),
      isCue: z.literal(true).exactOptional(),
    }),
  ),
  lastFrame: z.number().min(0).exactOptional(),
  attemptMs: z.number().positive(),
  watermark: z.literal(true).exactOptional(),
};

export const recipeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('transparent'),
    ...baseFields,
    output: z.object({ format: z.enum(['png', 'webp']) }),
    shownAt: z.number().min(0).exactOptional(),
  }),
  z.object({ kind: z.literal('layout'), ...baseFields }),
  z.object({
    kind: z.literal('image'),
    ...baseFields,
    decode: z.object({
      maxPixels: z.number().positive(),
      ignoreProfile: z.boolean(),
      color: colorConversionSchema.exactOptional(),
      scaleTo: z.object({ width: z.int().min(1), height: z.int().min(1) }).exactOptional(),
      decoder: imageDecoderSchema.exactOptional(),
    }),
    output: z.discriminatedUnion('format', [
      z.object({ format: z.literal('png') }),
      z.object({ format: z.literal('webp'), quality: qualitySchema }),
      z.object({
        format: z.literal('jpeg'),
        quality: qualitySchema,
        keepsSource: z.boolean(),
        turnsSource: z.int().min(2).max(8).exactOptional(),
      }),
    ]),
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
    cuts: cutsSchema,
    steps: z.array(z.object({ filter: z.string(), args: z.string() })),
    encoder: z.object({
      preset: z.string(),
      crf: z.number(),
      maxRate: z.number().positive(),
      bufferSize: z.number().positive(),
      keyframeInterval: z.int().min(1),
    }),
    bounds: z.object({ frames: z.number().positive(), bytes: z.number().positive(), pixels: z.number().positive() }),
    piece: z.object({ frames: z.number().min(0), isLast: z.boolean(), work: z.unknown() }).exactOptional(),
  }),
]);
