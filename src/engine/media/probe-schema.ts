// The schema of a probe, with a range for every number. The ranges cover everything that an honest worker can report. A
// worker itself refuses an asset beyond the caller's limits, so numbers beyond them never get here.

import { z } from 'zod';
import { ALLOWED_DECODERS, AUDIO_DECODERS, VIDEO_DECODERS } from './video/probe/decoders.ts';

/** The longest side that an image may have, and far more than a video may. */
const MAX_SIDE = 65_535;
const MAX_SECONDS = 7 * 86_400;
/** A probe reads at most this many packets. */
const MAX_FRAMES = 400_000;
const MAX_FRAME_RATE = 10_000;
const MAX_STREAMS = 64;
/** A probe reports two per part of the video. */
const MAX_KEYFRAMES = 2_000;
/** FFmpeg keeps fractions in 32-bit integers and timestamps in 64-bit ones. */
const MAX_INT32 = 2 ** 31 - 1;
const MAX_TIMESTAMP = 2 ** 63;
/** A stream of one frame can be so short that its bit rate is enormous. output-limit.ts caps the size of the output. */
const MAX_BIT_RATE = 1e19;
const MAX_CHANNELS = 1_024;
const MAX_NITS = 10_000;

const side = z.int().min(1).max(MAX_SIDE);
const decoder = z.enum(ALLOWED_DECODERS);
const streamIndex = z
  .int()
  .min(0)
  .max(MAX_STREAMS - 1);
const timestamp = z.number().min(-MAX_TIMESTAMP).max(MAX_TIMESTAMP);

export const sizeSchema = z.object({ width: side, height: side });
export const videoFormatSchema = z.enum(['mp4', 'mov', 'webm', 'animation']);
export const secondsSchema = z.number().positive().max(MAX_SECONDS);
export const frameRateSchema = z.number().min(0).max(MAX_FRAME_RATE);

export const videoSourceSchema = z.object({
  index: streamIndex,
  codec: z.enum(Object.keys(VIDEO_DECODERS)),
  decoder,
  timeBase: z.object({ num: z.int().min(1).max(MAX_INT32), den: z.int().min(1).max(MAX_INT32) }),
  /** Presentation times in seconds: the start of the first frame, the start of the last one, and its end. */
  start: timestamp,
  lastStart: timestamp,
  end: timestamp,
  frames: z.int().min(1).max(MAX_FRAMES),
  /** Bits per second, from the sizes of the packets. */
  bitRate: z.number().min(0).max(MAX_BIT_RATE),
  decoded: sizeSchema,
  square: sizeSchema,
  orientation: z.object({ transpose: z.boolean(), flipX: z.boolean(), flipY: z.boolean() }),
  pixelFormat: z.string().regex(/^\w{1,64}$/u),
  tags: z.object({
    matrix: z.enum(['rgb', 'bt709', 'bt601', 'fcc', 'smpte240m', 'ycgco', 'bt2020', 'ictcp', 'unspecified']),
    primaries: z.enum(['bt709', 'bt601', 'bt2020', 'p3', 'unspecified']),
    transfer: z.enum(['sdr', 'pq', 'hlg']),
    range: z.enum(['limited', 'full']),
  }),
  interlaced: z.boolean(),
  peakNits: z.number().min(0).max(MAX_NITS),
  needsDolbyVision: z.boolean(),
});

export const audioSourceSchema = z.object({
  index: streamIndex,
  codec: z.enum(Object.keys(AUDIO_DECODERS)),
  decoder,
  action: z.enum(['copy', 'encode']),
  sampleRate: z.int().min(1).max(MAX_INT32),
  channels: z.int().min(1).max(MAX_CHANNELS),
  start: timestamp,
  end: timestamp,
});

export const colorConversionSchema = z.discriminatedUnion('from', [
  z.object({ from: z.literal('profile'), space: z.enum(['srgb', 'b-w']) }),
  z.object({ from: z.literal('cmyk') }),
  z.object({
    from: z.literal('encoding'),
    bits: z.literal([8, 16]),
    encoding: z.object({
      transfer: z.union([z.enum(['srgb', 'pq', 'hlg']), z.number().positive()]),
      chromaticities: z.array(z.number().min(0).max(1)).length(8).readonly(),
    }),
  }),
]);

export const imageDecoderSchema = z.literal('heif');

export const imageProbeSchema = z.object({
  kind: z.literal('image'),
  width: side,
  height: side,
  /** True when the image embeds a color profile and that profile is sRGB. */
  isSrgb: z.boolean(),
  /** The EXIF orientation, 2 to 8, that turns or mirrors the stored image. Absent if it is upright. */
  orientation: z.int().min(2).max(8).exactOptional(),
  /** Set when the image decoder alone would get the colors wrong. */
  color: colorConversionSchema.exactOptional(),
  /** Set for HEIC and AVIF, which the decoders for videos decode. */
  decoder: imageDecoderSchema.exactOptional(),
});

const videoFields = z.object({
  kind: z.literal('video'),
  format: videoFormatSchema,
  /** Width and height are those of the output: upright, with square pixels and even sides. */
  width: side,
  height: side,
  durationSeconds: secondsSchema,
  /** The duration in the header or that of the packets, whichever is longer. */
  claimedSeconds: secondsSchema,
  frameRate: frameRateSchema,
  video: videoSourceSchema,
  audio: audioSourceSchema.nullable(),
  /** True when the file has audio, but none that can be decoded. */
  isAudioDropped: z.boolean().exactOptional(),
  /** When keyframes are shown, in seconds after the first frame; see `keyframes.ts`. */
  keyframes: z.array(z.number().min(0).max(MAX_SECONDS)).max(MAX_KEYFRAMES).readonly(),
});

/** The caller's limits apply to `claimedSeconds` and the canvas, so no other field may exceed these two. */
export const videoProbeSchema = videoFields
  .refine(isWithinClaimedSeconds, { path: ['claimedSeconds'], error: 'is shorter than the tracks' })
  .refine(hasCanvasOfSource, { path: ['width'], error: "doesn't match the source" });

function isWithinClaimedSeconds({ claimedSeconds, durationSeconds, video, audio }: VideoProbe): boolean {
  const start = Math.min(video.start, audio?.start ?? video.start);
  const end = Math.max(video.end, audio?.end ?? video.end);
  return durationSeconds <= claimedSeconds && end - start <= claimedSeconds;
}

function hasCanvasOfSource({ width, height, video: { square, orientation } }: VideoProbe): boolean {
  const [across, down] = orientation.transpose ? [square.height, square.width] : [square.width, square.height];
  return width === across && height === down;
}

export type VideoProbe = z.infer<typeof videoFields>;
export type VideoSource = z.infer<typeof videoSourceSchema>;
export type AudioSource = z.infer<typeof audioSourceSchema>;
export type ImageProbe = z.infer<typeof imageProbeSchema>;
