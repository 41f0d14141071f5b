import { describe, expect, it } from 'vitest';
import { randomCases } from '../../../../test/random-cases.ts';
import { type Cut, findCuts, MAX_CUTS, type PacketInfo } from '../probe/cuts.ts';
import { planSegments, segmentsBetween, type VideoSegment, type VideoSpan } from './plan.ts';

/** A seeded generator, so that every run tests the same streams. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A stream like those of real encoders: closed and open GOPs, B-frames after their references, irregular timing. */
function makeStream(seed: number): PacketInfo[] {
  const pick = random(seed);
  const isUneven = pick(2) === 1;
  const hiddenPackets = pick(3) === 0 ? pick(40) : 0;
  const packets: { pts: number; isKey: boolean }[] = [];
  let time = pick(1_000);
  const step = (): number => (time += isUneven ? 1 + pick(90) : 40);
  for (let group = 1 + pick(12); group > 0; group -= 1) {
    const leading = pick(2) === 0 ? pick(4) : 0;
    const leadingFrames = Array.from({ length: leading }, step);
    packets.push({ pts: step(), isKey: true });
    for (const pts of leadingFrames) packets.push({ pts, isKey: false });
    for (let run = pick(30); run > 0; run -= 1) {
      const bFrames = Array.from({ length: pick(4) }, step);
      packets.push({ pts: step(), isKey: false });
      for (const pts of bFrames) packets.push({ pts, isKey: false });
    }
  }
  return packets.map((packet, at) => ({ ...packet, isShown: at >= hiddenPackets }));
}

const SEEDS = Array.from({ length: randomCases({ usually: 60, all: 300 }) }, (_, seed) => seed);

function framesOf(packets: readonly PacketInfo[], { from, to }: VideoSegment): number[] {
  return packets.flatMap(({ pts = 0, isShown }, at) =>
    isShown && (from === null || pts >= from) && (to === null || pts < to) ? [at] : [],
  );
}

describe('findCuts', () => {
  it('cuts only at keyframes, each with an earlier keyframe to start decoding from', () => {
    let found = 0;
    for (const seed of SEEDS) {
      const packets = makeStream(seed);
      for (const { pts, decodeFrom } of findCuts(packets, 0)) {
        const at = packets.findIndex((packet) => packet.pts === pts);
        expect(packets[at]).toMatchObject({ isKey: true, isShown: true });
        expect(packets[decodeFrom]?.isKey).toBe(true);
        expect(decodeFrom).toBeLessThanOrEqual(at - 16);
        found += 1;
      }
    }
    expect(found).toBeGreaterThan(SEEDS.length);
  });

  it('puts every frame into exactly one segment, and each segment decodes all frames it shows', () => {
    for (const seed of SEEDS) {
      const packets = makeStream(seed);
      const shown = packets.filter(({ isShown }) => isShown).length;
      const segments = segmentsBetween(findCuts(packets, 0), shown);
      const frames = segments.map((segment) => framesOf(packets, segment));
      expect(frames.map(({ length }) => length)).toEqual(segments.map(({ frames: count }) => count));
      expect(new Set(frames.flat()).size).toBe(shown);
      expect(frames.flat()).toHaveLength(shown);
      for (const [index, { decodeFrom, decodeTo }] of segments.entries()) {
        expect(Math.min(...(frames[index] ?? []))).toBeGreaterThanOrEqual(decodeFrom);
        expect(Math.max(...(frames[index] ?? []))).toBeLessThan(decodeTo ?? packets.length);
      }
    }
  });

  it('keeps cuts at least the given spacing apart', () => {
    for (const seed of SEEDS) {
      const times = findCuts(makeStream(seed), 2_000).map(({ pts }) => pts);
      for (const [index, pts] of times.entries())
        expect(pts - (times[index - 1] ?? -2_000)).toBeGreaterThanOrEqual(2_000);
    }
  });

  it('finds no cut where timestamps are missing or repeated, or where a later frame precedes the keyframe', () => {
    const plain: PacketInfo[] = Array.from({ length: 60 }, (_, at) => ({
      pts: at,
      isKey: at % 20 === 0,
      isShown: true,
    }));
    const changed = (at: number, pts: number | undefined): PacketInfo[] =>
      plain.with(at, { ...plain[at], pts } as PacketInfo);
    expect(findCuts(plain, 0).map(({ pts }) => pts)).toEqual([20, 40]);
    expect(findCuts(changed(7, undefined), 0)).toEqual([]);
    expect(findCuts(changed(7, 8), 0)).toEqual([]);
    expect(findCuts(changed(7, 100), 0)).toEqual([]);
    expect(findCuts(changed(27, 100), 0).map(({ pts }) => pts)).toEqual([20]);
  });

  it.each([Number.NaN, Number.NEGATIVE_INFINITY, 0])(
    'returns a bounded number of cuts for a spacing of %d',
    (spacing) => {
      const keyframes: PacketInfo[] = Array.from({ length: 50_000 }, (_, pts) => ({ pts, isKey: true, isShown: true }));
      expect(findCuts(keyframes, spacing).length).toBeLessThanOrEqual(MAX_CUTS);
    },
  );
});

describe('planSegments', () => {
  const cutsAt = (...seconds: readonly number[]): Cut[] =>
    seconds.map((second) => ({ pts: second * 100, frames: second * 30, decodeFrom: 0, decodeTo: second * 30 }));
  const lengths = (cuts: readonly Cut[], seconds: number): readonly number[] | undefined =>
    planSegments(cuts, { start: 0, end: seconds * 100, frames: seconds * 30 }, 1_000)?.map(({ frames }) => frames / 30);

  it('plans segments of about the requested length', () => {
    const everySecond = cutsAt(...Array.from({ length: 59 }, (_, index) => index + 1));
    expect(lengths(everySecond, 60)).toEqual([10, 10, 10, 10, 10, 10]);
    expect(lengths(everySecond, 25)).toEqual([12, 13]);
    expect(lengths(cutsAt(8, 16, 24, 32, 40), 45)).toEqual([8, 16, 8, 13]);
  });

  it('plans no segments for a short video or one with too few keyframes', () => {
    expect(lengths(cutsAt(5, 10, 15), 19)).toBeUndefined();
    expect(lengths([], 60)).toBeUndefined();
    expect(lengths(cutsAt(2), 60)).toBeUndefined();
    expect(lengths(cutsAt(20), 60)).toEqual([20, 40]);
  });

  const { NaN: nan, POSITIVE_INFINITY: infinity } = Number;
  const everySecond = cutsAt(...Array.from({ length: 59 }, (_, index) => index + 1));
  it.each<[string, Partial<VideoSpan>, number, readonly Cut[]]>([
    ['a time base of 1/1e307', { end: infinity }, 1e308, everySecond],
    ['a duration of 1e12 seconds', { end: 1e14 }, 1_000, everySecond],
    ['an infinite duration', { end: infinity }, 1_000, everySecond],
    ['a start of minus infinity', { start: -infinity }, 1_000, everySecond],
    ['a duration that is NaN', { end: nan }, 1_000, everySecond],
    ['a frame count that is NaN', { frames: nan }, 1_000, everySecond],
    ['segments of length zero', {}, 0, everySecond],
    ['segments of length 1e-300', {}, 1e-300, everySecond],
    ['segments of negative length', {}, -1_000, everySecond],
    ['segments whose length is NaN', {}, nan, everySecond],
    ['cuts at NaN', {}, 1_000, everySecond.map((cut) => ({ ...cut, pts: nan }))],
    ['cuts with NaN frames', {}, 1_000, everySecond.map((cut) => ({ ...cut, frames: nan }))],
    ['cuts after the last frame', {}, 1_000, everySecond.map((cut) => ({ ...cut, frames: cut.frames + 1e6 }))],
    [
      'too many cuts',
      {},
      1_000,
      Array.from({ length: 1e6 }, (_, at) => ({ pts: at, frames: at, decodeFrom: 0, decodeTo: at })),
    ],
  ])('returns quickly, with valid segments or none, for %s', (_name, span, length, cuts) => {
    const started = performance.now();
    const segments = planSegments(cuts, { start: 0, end: 6_000, frames: 1_800, ...span }, length);
    // This would take hours if the time grew with the square of the number of cuts, so the limit holds on a busy
    // machine, too.
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(segments?.length ?? 2).toBeGreaterThanOrEqual(2);
    expect(segments?.length ?? 2).toBeLessThanOrEqual(MAX_CUTS + 1);
    for (const { from, to, frames } of segments ?? []) {
      expect([from ?? 0, to ?? 0].every(Number.isFinite)).toBe(true);
      expect(frames).toBeGreaterThan(0);
    }
  });
});
