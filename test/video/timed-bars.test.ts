// Bars with times, checked in every frame of the output. The expected bars follow from the timestamps of the source,
// read as a player reads them.

import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import type { Overlay } from '../../src/engine/caption/overlay.ts';
import { NO_BARS } from '../../src/engine/media/video/frames/bar-blender.ts';
import { transcode } from '../../src/engine/media/video/transcode.ts';
import { hasSharedMedia, sharedMedia } from '../shared-media.ts';
import { type ClipOptions, type ReadClip, readClip } from './clip.ts';
import { plainClip } from './plain-clip.ts';
import { type RenderedClip, renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

const ALL = Number.POSITIVE_INFINITY;

/** Returns milliseconds from the first frame. */
function timesOf({ frames }: ReadClip): number[] {
  const first = frames[0]?.seconds ?? 0;
  return frames.map(({ seconds }) => Math.round((seconds - first) * 1_000));
}

/** Bars whose edges are exactly at frames, and a millisecond beside them. */
function barsAt(from: number, to: number): Overlay[] {
  return [
    { text: 'I', position: 0, start: from / 1_000, end: to / 1_000 },
    { text: 'I', position: 50, start: (from + 1) / 1_000 },
    { text: 'I', position: 100, end: (to + 1) / 1_000 },
  ];
}

function expected(overlays: readonly Overlay[], times: readonly number[]): string[] {
  return times.map((time) => {
    const isShown = ({ start = 0, end = ALL }: Overlay): boolean => start * 1_000 <= time && time < end * 1_000;
    return `${time} ms: ${overlays.map((overlay) => (isShown(overlay) ? 'x' : '-')).join('')}`;
  });
}

/** A bar leaves 40 % of the light behind it. Compares with the same frames without bars. */
function shown(rendered: ReadClip, bare: ReadClip, bars: RenderedClip['facts']['bars']): string[] {
  return timesOf(rendered).map((time, index) => {
    const isShown = ({ top, height }: { top: number; height: number }): boolean => {
      const lightOf = ({ frames }: ReadClip): number =>
        (frames[index]?.rgb(1, top + Math.floor(height / 2)) ?? []).reduce((sum, channel) => sum + channel, 0);
      return lightOf(rendered) < 0.7 * lightOf(bare);
    };
    return `${time} ms: ${bars.map((bar) => (isShown(bar) ? 'x' : '-')).join('')}`;
  });
}

interface Rendering extends RenderedClip {
  readonly overlays: readonly Overlay[];
  readonly bare: ReadClip;
}

async function renderTimed(path: string, [from, to]: readonly [number, number]): Promise<Rendering> {
  const overlays = barsAt(from, to);
  const rendered = await renderClip(path, work.path('timed.mp4'), overlays);
  const { orientation, frames, decoded } = rendered.recipe.video;
  // A source whose frames are as they will be shown saves a render.
  const isUpright = !orientation.transpose && !orientation.flipX && !orientation.flipY;
  const isBare = isUpright && frames === rendered.facts.frames && decoded.height === rendered.recipe.canvas.height;
  if (!isBare) await transcode(rendered.recipe, path, work.path('bare.mp4'), NO_BARS);
  return {
    ...rendered,
    overlays,
    clip: readClip(work.path('timed.mp4'), ALL),
    bare: readClip(isBare ? path : work.path('bare.mp4'), ALL),
  };
}

/** The text of these clips is too small to be read, which is no concern of these tests. */
function warningsAboutTimes({ warnings }: RenderedClip['facts']): readonly string[] {
  return warnings.filter((warning) => warning !== 'text_too_small');
}

/** Returns the actual and the expected bars of the frames, with edges at a third and at two thirds of the frames. */
async function renderThirds(
  path: string,
  source: readonly number[] = timesOf(readClip(path, 0)),
): Promise<{ readonly actual: object; readonly wanted: object }> {
  const edges = [source[Math.floor(source.length / 3)] ?? 0, source[Math.floor((source.length * 2) / 3)] ?? 0] as const;
  const { overlays, clip, bare, facts } = await renderTimed(path, edges);
  return {
    actual: { frames: shown(clip, bare, facts.bars), warnings: warningsAboutTimes(facts) },
    wanted: { frames: expected(overlays, source), warnings: [] },
  };
}

const MILLISECONDS = { num: 1, den: 1_000 };
const B_FRAMES = { preset: 'medium', 'x264-params': 'keyint=40:min-keyint=40:scenecut=0:bframes=3:b-adapt=0' };
const vfr = (frames: number): number[] =>
  Array.from({ length: frames }, (_, index) => index * 33 + ((index * index) % 29));

const CLIPS: Readonly<Record<string, Partial<ClipOptions>>> = {
  'a constant frame rate and B-frames': { frames: 45, encoderOptions: B_FRAMES },
  'open GOPs': {
    frames: 90,
    encoderOptions: { ...B_FRAMES, 'x264-params': `${B_FRAMES['x264-params']}:open-gop=1` },
  },
  '29.97 frames per second': { frames: 45, timeBase: { num: 1_001, den: 30_000 } },
  '23.976 frames per second in ticks of 1/90000 s': {
    pts: Array.from({ length: 40 }, (_, index) => Math.round(index * 3_753.75)),
    timeBase: { num: 1, den: 90_000 },
  },
  'half milliseconds': { pts: Array.from({ length: 40 }, (_, index) => index * 43), timeBase: { num: 1, den: 2_000 } },
  'a variable frame rate and B-frames': { pts: vfr(45), timeBase: MILLISECONDS, encoderOptions: B_FRAMES },
  'a start at five seconds': {
    pts: vfr(45).map((time) => time + 5_000),
    timeBase: MILLISECONDS,
    encoderOptions: B_FRAMES,
    muxerOptions: { use_editlist: '0' },
  },
  'an edit list that hides the start': {
    pts: Array.from({ length: 60 }, (_, index) => index - 15),
    encoderOptions: B_FRAMES,
    muxerOptions: { avoid_negative_ts: 'disabled' },
  },
  'interlaced frames': { frames: 40, encoderOptions: { preset: 'fast', 'x264-params': 'interlaced=1' } },
  'audio that starts before the video': {
    pts: vfr(30).map((time) => time + 400),
    timeBase: MILLISECONDS,
    audio: { codec: 'aac', seconds: 1, sampleRate: 48_000 },
  },
};

const FILES = [
  'video_fragmented/media__sample_partially_fragmented.mp4',
  'video_mp4/ladybird__vp9_oob_blocks.webm',
  'video_mp4/media__sample_edit_list_only_preroll_sync_sample.mp4',
  'video_rotation/decord__video_90.mov',
  'video_rotation/decord__video_270.mov',
  'video_webm/wpt__rgb100.webm',
];

describe('a bar with times is in exactly the frames from its start to before its end', () => {
  for (const [name, changes] of Object.entries(CLIPS)) {
    it(`a bar is in exactly its frames with ${name}`, async () => {
      const { actual, wanted } = await renderThirds(plainClip(work.path(name.replaceAll(/\W+/gu, '-')), changes));
      expect(actual).toEqual(wanted);
    });
  }

  it('a bar is in exactly its frames in Matroska, whose timestamps are whole milliseconds', async () => {
    const path = plainClip(work.path('clip.mkv'), { container: 'matroska', frames: 40, encoderOptions: B_FRAMES });
    const { actual, wanted } = await renderThirds(path);
    expect(actual).toEqual(wanted);
  });

  it.each([
    [120, 2],
    [240, 4],
  ])('a bar is in exactly its frames with %i frames per second, of which one in %i is kept', async (rate, step) => {
    const path = plainClip(work.path(`fast-${rate}`), { frames: rate, timeBase: { num: 1, den: rate } });
    const kept = timesOf(readClip(path, 0)).filter((_, index) => index % step === 0);
    const { actual, wanted } = await renderThirds(path, kept);
    expect(actual).toEqual(wanted);
  });

  for (const name of FILES) {
    it.skipIf(!hasSharedMedia)(
      `a bar is in exactly its frames in the real file ${name} (skipped without ../shared/media)`,
      async () => {
        const { actual, wanted } = await renderThirds(sharedMedia(name));
        expect(actual).toEqual(wanted);
      },
    );
  }
});

describe('frames without a bar', () => {
  it('frames without a bar are those of a transcode without bars, byte for byte', async () => {
    const path = plainClip(work.path('never'), { frames: 30, encoderOptions: B_FRAMES });
    const [rendered, bare] = [work.path('never.mp4'), work.path('never-bare.mp4')];
    const { recipe, facts } = await renderClip(path, rendered, [{ text: 'late', position: 50, start: 0.968 }]);
    await transcode(recipe, path, bare, NO_BARS);
    expect(warningsAboutTimes(facts)).toEqual(['never_shown']);
    expect(readFileSync(rendered).equals(readFileSync(bare))).toBe(true);
  });

  it('a bar that only the last frame shows needs no warning', async () => {
    const path = plainClip(work.path('last'), { frames: 30 });
    const { facts, clip } = await renderClip(path, work.path('last.mp4'), [
      { text: 'last', position: 50, start: 0.967 },
    ]);
    expect(timesOf(clip).at(-1)).toBe(967);
    expect(warningsAboutTimes(facts)).toEqual([]);
  });
});
