// A video with a limit of its size. It is encoded as without a limit. If that is too large, it is encoded once more: the
// encoder then knows from the first time how many bits each frame needs, and distributes those that there are.

import { rm, stat } from 'node:fs/promises';
import { AppError } from '../../../shared/errors.ts';
import type { TimedBars } from './frames/bar-blender.ts';
import { transcode } from './transcode.ts';
import type { TranscodeFacts, TranscodeOptions, TranscodePlan } from './transcode-plan.ts';

export interface SizedTranscode extends TranscodeFacts {
  /** The constant rate factor, or the one that has about the same quality. */
  readonly quality: number;
}

/** The part of the limit that the encoder aims at, because it misses by a few percent, and more in a short video. */
const LONG_SHARE = 0.96;
const SHORT_SHARE = 0.88;
const SHORT_FRAMES = 150;

export async function transcodeWithin(
  maxBytes: number,
  plan: TranscodePlan,
  path: string,
  outPath: string,
  bars: TimedBars,
  options: TranscodeOptions = {},
): Promise<SizedTranscode> {
  const statistics = `${outPath}.statistics`;
  const { encoder } = plan;
  const encode = async (
    part: 0 | 1,
    pass: TranscodePlan['encoder']['pass'],
  ): Promise<TranscodeFacts & { bytes: number }> => {
    const progress: TranscodeOptions['onProgress'] = ({ frames, totalFrames }) =>
      options.onProgress?.({ frames: frames + part * totalFrames, totalFrames: 2 * totalFrames });
    const withPass = { ...plan, encoder: { ...encoder, ...(pass && { pass }) } };
    const facts = await transcode(withPass, path, outPath, bars, { ...options, onProgress: progress });
    return { ...facts, bytes: (await stat(outPath)).size };
  };
  try {
    const first = await encode(0, { number: 1, statistics });
    if (first.bytes <= maxBytes) return { ...first, quality: encoder.crf };
    const share = first.frames < SHORT_FRAMES ? SHORT_SHARE : LONG_SHARE;
    const others = first.bytes - first.videoBytes;
    const bitRate = Math.floor(((maxBytes * share - others) * 8) / first.durationSeconds);
    if (bitRate < MIN_BIT_RATE) throw tooLarge(maxBytes, others);
    const second = await encode(1, { number: 2, statistics, bitRate });
    if (second.bytes > maxBytes) throw tooLarge(maxBytes, second.bytes);
    return { ...second, quality: Math.round(encoder.crf + second.quantizer - first.quantizer) };
  } finally {
    for (const file of [statistics, `${statistics}.mbtree`]) await rm(file, { force: true });
  }
}

/** The encoder takes no lower one. */
const MIN_BIT_RATE = 1_000;

function tooLarge(maxBytes: number, bytes: number): AppError {
  const detail =
    `The video takes at least ${bytes} bytes; max_bytes is ${maxBytes}. Raise max_bytes, shorten the video, or make it smaller with ` +
    'fit, width and height.';
  return new AppError('cannot_fit', detail, { limit: { limit: maxBytes, actual: bytes } });
}
