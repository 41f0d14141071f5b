// Clips that are rendered as a whole and in segments, and the comparison of both files. Frame times, audio bytes and
// track parameters must be the same. Frames may differ as much as between two lossy encodes, also at a seam.

import { expect } from 'vitest';
import { segmentsBetween } from '../../src/media/video/segments/plan.ts';
import type { ClipOptions } from './clip.ts';
import { BT709, paintYuv } from './painting.ts';
import { plainClip } from './plain-clip.ts';
import { renderClip, type workDirectory } from './render-clip.ts';
import { highestPsnrOfNeighbors, lowestPsnr, renderInSegments, structureOf } from './seams.ts';

type WorkDirectory = ReturnType<typeof workDirectory>;

/** The image changes so fast that no two consecutive frames look alike. */
export const paint = paintYuv((x, y, frame) => [(x * 2 + frame * 23) % 256, (y * 3 + frame * 31) % 256, 120], BT709);
export const FRAMES = 160;

/** Renders a clip as a whole and cut at every possible place, and compares the files. */
export async function renderBoth(work: WorkDirectory, name: string, path: string) {
  const [whole, joined] = [work.path(`${name}-whole.mp4`), work.path(`${name}-joined.mp4`)];
  const rendered = await renderClip(path, whole);
  const { recipe, facts } = rendered;
  const segments = segmentsBetween(recipe.cuts, recipe.video.frames);
  const joinedFacts = await renderInSegments(recipe, segments, path, joined);
  expect(joinedFacts.frames).toBe(facts.frames);
  expect(joinedFacts.durationSeconds).toBeCloseTo(facts.durationSeconds, 6);
  const [expected, actual] = [structureOf(whole), structureOf(joined)];
  // Only the keyframes may differ: there is one at every seam.
  expect({ ...actual, keyframes: expected.keyframes }).toEqual(expected);
  expect(actual.keyframes.length).toBeGreaterThanOrEqual(segments.length);
  return { whole, rendered, segments: segments.length, psnr: lowestPsnr(whole, joined) };
}

export const keyEvery = (frames: number): string => `keyint=${frames}:min-keyint=${frames}:scenecut=0`;
export const X264 = { preset: 'medium', 'x264-params': `${keyEvery(40)}:bframes=3` };

/** Renders a small clip both ways. `neighborPsnr` is the value for a repeated or missing frame. */
export async function compareClip(work: WorkDirectory, name: string, changes: Partial<ClipOptions>) {
  const file = name.replaceAll(/\W+/gu, '-');
  const path = plainClip(work.path(file), { paint, frames: FRAMES, width: 128, height: 96, ...changes });
  const { whole, segments, psnr } = await renderBoth(work, file, path);
  return { segments, psnr: psnr.decibels, neighborPsnr: highestPsnrOfNeighbors(whole) };
}
