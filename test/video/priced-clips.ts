// Clips whose price is easy to get wrong: they end a little after a multiple of five seconds, or their tracks end apart.

import path from 'node:path';
import { FormatContext } from 'node-av/lib';
import { priceOf } from '../../src/service/account/pricing.ts';
import { probeVideo } from '../../src/engine/media/video/probe/probe.ts';
import { hasSharedMedia, sharedMedia } from '../shared-media.ts';
import type { ClipOptions } from './clip.ts';
import { plainClip } from './plain-clip.ts';

const TICKS_PER_SECOND = 30;
const WEBM = { container: 'webm', codec: 'libvpx', encoderOptions: { deadline: 'realtime' } } as const;
const AAC = { codec: 'aac', sampleRate: 48_000 } as const;

/** One frame per second and a last one of 1/30 of a second, so `ticks` thirtieths of a second in all. */
function spanning(ticks: number): Pick<ClipOptions, 'pts' | 'timeBase'> {
  const seconds = Array.from({ length: Math.ceil((ticks - 1) / TICKS_PER_SECOND) }, (_, at) => at * TICKS_PER_SECOND);
  return { pts: [...seconds, ticks - 1], timeBase: { num: 1, den: TICKS_PER_SECOND } };
}

const CLIPS: Readonly<Record<string, Partial<ClipOptions>>> = {
  'four-seconds-nine.mp4': spanning(147),
  'five-seconds.mp4': spanning(150),
  'one-frame-over-five-seconds.mp4': spanning(151),
  'two-frames-over-five-seconds.mp4': spanning(152),
  'five-seconds-one.mp4': spanning(153),
  'five-seconds-two.mp4': spanning(156),
  'one-frame-over-ten-seconds.mp4': spanning(301),
  'ten-seconds-one.mp4': spanning(303),
  'two-frames-over-five-seconds.mov': { ...spanning(152), container: 'mov' },
  'one-frame-over-five-seconds.webm': { ...spanning(151), ...WEBM },
  'five-seconds-one.webm': { ...spanning(153), ...WEBM },
  'held-last-frame.mp4': { pts: [0, 7, 14], timeBase: { num: 2, den: 5 } },
  'longer-audio.mp4': { ...spanning(147), audio: { ...AAC, seconds: 5.5 } },
  'shorter-audio.mp4': { ...spanning(152), audio: { ...AAC, seconds: 3 } },
};

const SAMPLES = [
  'video_mp4/wpt__movie_5.mp4',
  'video_mp4/wpt__text.mov',
  'video_mp4/media__edit_list_positive_shift.mp4',
  'video_mp4/media__sample_edit_list_only_preroll_sync_sample.mp4',
  'video_webm/wpt__movie_5.webm',
];

/** Creates the clips in this folder and returns their paths. All are small, so they render quickly. */
export function pricedClips(folder: string): string[] {
  return Object.entries(CLIPS).map(([name, options]) => plainClip(path.join(folder, name), options));
}

/** Clips of cameras and other programs, if there are any. They take seconds to render. */
export function pricedSamples(): string[] {
  return hasSharedMedia ? SAMPLES.map(sharedMedia) : [];
}

/** Returns the price of a render with a live key, from the same probe. */
export function priceOfFile(file: string): number {
  const format = path.extname(file).slice(1) as 'mp4' | 'mov' | 'webm';
  return priceOf(probeVideo(file, format, { maxSide: 4_096 }), { mode: 'live', isReplay: false });
}

/** Returns the duration that FFmpeg's tools print. */
export function headerSeconds(file: string): number {
  const input = new FormatContext();
  if (input.openInputSync(file) < 0 || input.findStreamInfoSync() < 0) throw new Error(`FFmpeg can't read ${file}`);
  const seconds = Number(input.duration) / 1e6;
  input.closeInputSync();
  return seconds;
}
