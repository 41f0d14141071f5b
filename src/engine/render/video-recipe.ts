// Composes the recipe of a video render from the probe and the limits of the caller.

import { assertVideoSize, type Fit } from '../caption/fit.ts';
import type { RequestedOutput } from '../caption/format-field.ts';
import type { Overlay } from '../caption/overlay.ts';
import { assertEnlargement } from '../layout/fit.ts';
import { AppError } from '../../shared/errors.ts';
import type { ErrorCode } from '../../shared/error-table.ts';
import type { Size } from '../layout/geometry.ts';
import { decoderPixels, assertMaxSide } from '../media/video/dimensions.ts';
import { encoderSettings } from '../media/video/frames/encoding.ts';
import { fitSteps } from '../media/video/frames/fit-steps.ts';
import { filterSteps } from '../media/video/frames/steps.ts';
import type { VideoProbe } from '../media/probe-schema.ts';
import { startOffset } from '../media/video/probe/timing.ts';
import { cannotFit } from './size-limit.ts';
import type { RecipeOf } from './recipe-schema.ts';

export type VideoRecipe = RecipeOf<'video'>;

/** The video limits of the caller's plan. */
export interface VideoLimits {
  readonly videoSeconds: number;
  /** The limit of the same request with `prefer: respond-async`, if it may be sent so. */
  readonly asyncVideoSeconds?: number;
  readonly videoSide: number;
  readonly videoFps: number;
  /** The size of the largest file that can be delivered, in bytes. Undefined outside of a server. */
  readonly outputBytes?: number;
}

export const DEFAULT_VIDEO_LIMITS: VideoLimits = {
  videoSeconds: 60,
  videoSide: 4_096,
  videoFps: 60,
};

/** A 60 fps recording of a phone can have 60.06, and a clip cut at 60 seconds contains the rest of its last frame. */
const FPS_TOLERANCE = 1.05;
const SECONDS_TOLERANCE = 0.5;
/** Slow motion on phones has up to 8 times the usual 30 frames per second. */
const MAX_FRAME_STEP = 8;
/** Frames and bytes that a render accepts beyond those in the probe. */
const FRAME_SLACK = 64;
const BYTES_SLACK = 4_000_000;

export function composeVideoRecipe(
  probe: VideoProbe,
  overlays: readonly Overlay[],
  limits: VideoLimits,
  { fit: requestedFit, maxBytes }: Pick<RequestedOutput, 'fit' | 'maxBytes'> = {},
): VideoRecipe {
  assertWithinLimits(probe, limits);
  const { video, audio, durationSeconds, format } = probe;
  const { canvas, steps, ...fitted } = fittedVideo(probe, requestedFit, limits);
  const frameStep = frameStepFor(probe, limits);
  const frameRate = probe.frameRate / frameStep;
  const enlargement = Math.max(1, (canvas.width * canvas.height) / (probe.width * probe.height));
  if (maxBytes !== undefined) assertVideoCanFit(canvas, video.frames / frameStep, maxBytes);
  const encoder = encoderSettings(canvas, frameRate, { codec: video.codec, bitRate: video.bitRate * enlargement });
  const offset = startOffset(video.start, audio?.start);
  const soundLead = video.start - offset;
  const audioBytes = audio === null ? 0 : durationSeconds * MAX_AUDIO_BYTES_PER_SECOND;
  return Object.freeze({
    kind: 'video',
    canvas,
    overlays,
    durationSeconds,
    lastFrame: Math.max(0, video.lastStart - video.start),
    format,
    video,
    audio,
    frameRate,
    frameStep,
    ...(probe.isAudioDropped && { isAudioDropped: true }),
    ...(soundLead > 0 && { soundLead }),
    offset,
    steps,
    ...fitted,
    ...(maxBytes !== undefined && { maxBytes }),
    encoder,
    bounds: {
      frames: video.frames * 2 + FRAME_SLACK,
      bytes: Math.round((encoder.maxRate / 8) * durationSeconds * 2 + audioBytes) + BYTES_SLACK,
      pixels: decoderPixels(limits.videoSide),
    },
  } satisfies VideoRecipe);
}

function fittedVideo(
  { width, height, video }: VideoProbe,
  fit: Fit | undefined,
  { videoSide }: VideoLimits,
): Pick<VideoRecipe, 'canvas' | 'steps' | 'fit' | 'source' | 'isUpscaled'> {
  const source = { width, height };
  if (fit) assertVideoSize(fit);
  if (fit === undefined || (fit.width === width && fit.height === height)) {
    return { canvas: source, steps: filterSteps(video) };
  }
  const canvas = { width: fit.width, height: fit.height };
  assertMaxSide(videoSide, canvas);
  const isSoft = assertEnlargement(source, fit);
  const steps = [...filterSteps(video), ...fitSteps(source, fit)];
  return { canvas, steps, fit, source, ...(isSoft && { isUpscaled: true }) };
}

/** The fewest bits per pixel and frame that are worth trying. Video that hardly moves needs about twice as many at the lowest quality. */
const MIN_BITS_PER_PIXEL = 0.001;

function assertVideoCanFit({ width, height }: Size, frames: number, maxBytes: number): void {
  const least = Math.ceil((width * height * frames * MIN_BITS_PER_PIXEL) / 8);
  if (least > maxBytes)
    throw cannotFit(maxBytes, least, `A video of ${Math.ceil(frames)} frames and ${width}x${height} pixels`);
}

/** Returns undefined for a video without sound. */
export function composeSoundRecipe(recipe: VideoRecipe): RecipeOf<'sound'> | undefined {
  const { format, audio, offset, durationSeconds: seconds } = recipe;
  return audio === null ? undefined : { kind: 'sound', format, audio, offset, seconds };
}

/** Far above any compressed audio. Uncompressed audio is encoded, so it never reaches the output. */
const MAX_AUDIO_BYTES_PER_SECOND = 200_000;

function assertWithinLimits(probe: VideoProbe, limits: VideoLimits): void {
  const { width, height, claimedSeconds, frameRate } = probe;
  assertMaxSide(limits.videoSide, { width, height });
  if (claimedSeconds > limits.videoSeconds + SECONDS_TOLERANCE) {
    const seconds = round(claimedSeconds);
    const { asyncVideoSeconds = 0 } = limits;
    const isAsyncEnough = claimedSeconds <= asyncVideoSeconds + SECONDS_TOLERANCE;
    const advice = isAsyncEnough
      ? `Send the header prefer: respond-async, which allows ${asyncVideoSeconds} seconds, or shorten it.`
      : 'Shorten it and try again.';
    const detail = `The video is ${seconds} seconds long; the limit is ${limits.videoSeconds} seconds. ${advice}`;
    throw limitExceeded('asset_too_long', detail, limits.videoSeconds, seconds);
  }
  const maxFps = limits.videoFps * MAX_FRAME_STEP;
  if (frameRate > maxFps * FPS_TOLERANCE) {
    const rate = round(frameRate);
    const detail = `The video has ${rate} frames per second; the limit is ${maxFps}. Lower its frame rate and try again.`;
    throw limitExceeded('asset_frame_rate_too_high', detail, maxFps, rate);
  }
}

/**
 * Returns the smallest whole number that brings the frame rate within the limit, so that the kept frames are evenly
 * spaced.
 */
function frameStepFor({ frameRate }: VideoProbe, { videoFps }: VideoLimits): number {
  return Math.max(1, Math.ceil(frameRate / (videoFps * FPS_TOLERANCE)));
}

function limitExceeded(code: ErrorCode, detail: string, limit: number, actual: number): AppError {
  return new AppError(code, detail, { limit: { limit, actual } });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
