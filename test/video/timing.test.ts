import { afterAll, describe, expect, it } from 'vitest';
import { hasSharedMedia, sharedMedia } from '../shared-media.ts';
import type { ClipOptions } from './clip.ts';
import { BT709, GRAY, paintYuv } from './painting.ts';
import { plainClip } from './plain-clip.ts';
import { renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

/** Every frame looks different, so that a lost or repeated one is detected. */
const paint = paintYuv((x, _, frame) => [(x * 2 + frame * 9) % 256, 90, 120], BT709);
const clip = (name: string, changes: Partial<ClipOptions>): string => plainClip(work.path(name), { paint, ...changes });

describe('timing', () => {
  it('keeps irregular timestamps exactly, with B-frames in input and output', async () => {
    const pts = [0, 17, 50, 51, 120, 121, 122, 300, 333, 366, 400, 1000, 1033, 1066];
    const path = clip('vfr.mp4', { pts, timeBase: { num: 1, den: 1000 }, encoderOptions: { preset: 'medium' } });
    const { clip: rendered, facts } = await renderClip(path, work.path('vfr-out.mp4'));
    expect(rendered.frames.map(({ seconds }) => Math.round(seconds * 1000))).toEqual(pts);
    expect(facts.frames).toBe(pts.length);
  });

  it('shifts a clip that starts late to zero', async () => {
    const path = clip('late.webm', {
      container: 'webm',
      codec: 'libvpx',
      pts: [1000, 1033, 1066, 1100, 1133, 1166],
      timeBase: { num: 1, den: 1000 },
      encoderOptions: { deadline: 'realtime', 'cpu-used': '8' },
    });
    const { clip: rendered, probe } = await renderClip(path, work.path('late-out.mp4'));
    expect(probe.video.start).toBeCloseTo(1, 2);
    expect(rendered.frames[0]?.seconds).toBeCloseTo(0, 3);
    expect(rendered.seconds).toBeCloseTo(0.2, 1);
  });

  it('ends the last frame of a WebM, which has no duration of its own, where the file ends', async () => {
    const path = clip('slow.webm', {
      container: 'webm',
      codec: 'libvpx',
      pts: [0, 30, 60, 90, 100],
      timeBase: { num: 1, den: 30 },
      encoderOptions: { deadline: 'realtime', 'cpu-used': '8' },
    });
    const { clip: rendered, probe } = await renderClip(path, work.path('slow-out.mp4'));
    expect(probe.durationSeconds).toBeCloseTo(101 / 30, 2);
    expect(rendered.seconds).toBeCloseTo(101 / 30, 2);
  });

  it.each([
    [120, 2],
    [240, 4],
  ])('keeps every frame that 60 per second allow of %i, evenly spaced', async (rate, step) => {
    const path = clip(`fast-${rate}.mp4`, { frames: rate, timeBase: { num: 1, den: rate } });
    const { clip: rendered, facts, probe } = await renderClip(path, work.path(`fast-${rate}-out.mp4`));
    expect(probe.frameRate).toBeCloseTo(rate, 0);
    expect(rendered.frames.map(({ seconds }) => Math.round(seconds * rate))).toEqual(
      Array.from({ length: rate / step }, (_, index) => index * step),
    );
    expect(rendered.seconds).toBeCloseTo(1, 2);
    expect(facts.durationSeconds).toBeCloseTo(1, 5);
  });

  it('spaces the kept frames evenly when the timestamps of a fast clip jitter', async () => {
    // 240 frames per second in milliseconds, as in a Matroska file, shaken by a millisecond.
    const pts = Array.from({ length: 240 }, (_, index) => Math.round((index * 1000) / 240 + ((index * 7) % 3) - 1) + 1);
    const path = clip('jitter.mp4', { pts, timeBase: { num: 1, den: 1000 } });
    const { clip: rendered } = await renderClip(path, work.path('jitter-out.mp4'));
    const times = rendered.frames.map(({ seconds }) => seconds * 1000);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(rendered.frames).toHaveLength(60);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000 / 60 - 3);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(1000 / 60 + 3);
  });

  it('reads fragmented files, whose header has no duration', async () => {
    const path = clip('fragmented.mp4', { frames: 30, muxerOptions: { movflags: 'frag_keyframe+empty_moov' } });
    const { clip: rendered, probe } = await renderClip(path, work.path('fragmented-out.mp4'));
    expect(probe.durationSeconds).toBeCloseTo(1, 2);
    expect(rendered.frames).toHaveLength(30);
    expect(rendered.seconds).toBeCloseTo(1, 2);
  });

  it('reports progress and stops when its signal aborts', async () => {
    const path = clip('long.mp4', { frames: 120, width: 320, height: 180, paint: paintYuv(() => GRAY, BT709) });
    const seen: number[] = [];
    const { facts } = await renderClip(path, work.path('progress.mp4'), undefined, {
      onProgress: ({ frames, totalFrames }) => seen.push(frames / totalFrames),
    });
    expect(seen.at(-1)).toBe(1);
    expect(facts.frames).toBe(120);
    const controller = new AbortController();
    const stopped = renderClip(path, work.path('stopped.mp4'), undefined, {
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    await expect(stopped).rejects.toThrow(/abort/iu);
  });
});

describe.skipIf(!hasSharedMedia)('timing of real clips (skipped without ../shared/media)', () => {
  it.each([
    ['video_mp4/media__sample_edit_list_only_preroll_sync_sample.mp4', 16, 0.534, 0],
    ['video_fragmented/media__sample_partially_fragmented.mp4', 30, 1.156, 0.067],
    ['video_webm/wpt__rgb100.webm', 3, 0.6, 0],
  ])('matches the source: %s has %i frames in %f seconds', async (name, frames, seconds, firstAt) => {
    const { clip: rendered, probe } = await renderClip(sharedMedia(name), work.path('sample.mp4'));
    expect(rendered.frames).toHaveLength(frames);
    expect(Math.abs(rendered.seconds - seconds)).toBeLessThan(1 / probe.frameRate);
    expect(rendered.frames[0]?.seconds).toBeCloseTo(firstAt, 2);
  });
});
