import { describe, expect, it } from 'vitest';
import { priceOf, type PricedMedia, quoteFor } from './pricing.ts';

const LIVE = { mode: 'live', isReplay: false } as const;

const video = (durationSeconds: number): PricedMedia => ({ kind: 'video', durationSeconds });

describe('priceOf', () => {
  it.each(['image', 'canvas'] as const)('charges one credit for an %s', (kind) => {
    expect(priceOf({ kind }, LIVE)).toBe(1);
  });

  it.each([
    [0.04, 1],
    [4.9, 1],
    [5, 1],
    [5.005, 1],
    [5.034, 1],
    [5.099, 1],
    [5.1, 2],
    [5.2, 2],
    [10, 2],
    [10.04, 2],
    [10.1, 3],
    [12, 3],
    [60, 12],
    [60.06, 12],
    [60.1, 13],
  ])('a video of %f seconds costs %i credits', (seconds, credits) => {
    expect(priceOf(video(seconds), LIVE)).toBe(credits);
  });

  it('does not depend on how the duration was added up', () => {
    const ticks = Array.from({ length: 12 }, (_, index) => 5 * (index + 1) + 0.1).map((seconds) => [
      priceOf(video(seconds), LIVE),
      priceOf(video((seconds * 30 - 1) / 30 + 1 / 30), LIVE),
      priceOf(video(seconds + 1.4 - 1.4), LIVE),
    ]);
    expect(ticks).toEqual(Array.from({ length: 12 }, (_, index) => [index + 2, index + 2, index + 2]));
  });

  it.each([{ kind: 'image' }, { kind: 'canvas' }, video(12)] as const)(
    'test keys and replays are free ($kind)',
    (media) => {
      expect(priceOf(media, { mode: 'test', isReplay: false })).toBe(0);
      expect(priceOf(media, { mode: 'live', isReplay: true })).toBe(0);
    },
  );
});

it.each([
  [0.5, 1],
  [30, 1],
  [30.099, 1],
  [30.1, 2],
  [61, 3],
])('captions from %f seconds of speech cost %i credits in addition to the video', (speechSeconds, credits) => {
  expect(priceOf(video(12), { ...LIVE, speechSeconds })).toBe(3 + credits);
  expect(priceOf(video(12), { mode: 'test', isReplay: false, speechSeconds })).toBe(0);
});

describe('quoteFor', () => {
  it('returns the price of a video when it gets a duration, and of an image otherwise', () => {
    expect([undefined, 5, 5.2, 12].map((seconds) => quoteFor(seconds, 'live'))).toEqual([1, 1, 2, 3]);
    expect([undefined, 12].map((seconds) => quoteFor(seconds, 'test'))).toEqual([0, 0]);
  });
});

it('a cover costs as much as an image, or as the part of a video that has to be decoded for it', () => {
  const live = { mode: 'live', isReplay: false } as const;
  expect(priceOf({ kind: 'cover', decodedSeconds: 10 }, live)).toBe(1);
  expect(priceOf({ kind: 'cover', decodedSeconds: 12 }, live)).toBe(3);
  expect(priceOf({ kind: 'cover', decodedSeconds: 12 }, { mode: 'test', isReplay: false })).toBe(0);
});
