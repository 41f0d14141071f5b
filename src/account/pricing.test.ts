import { describe, expect, it } from 'vitest';
import { priceOf, type PricedMedia, type PricedSpan } from './pricing.ts';

const LIVE = { mode: 'live', isReplay: false } as const;

const video = (span: PricedSpan): PricedMedia => ({ kind: 'video', video: span });
/** A video at 29.97 frames per second, whose first frame starts at `start`. */
const steady = (seconds: number, start = 0): PricedMedia =>
  video({ start, lastStart: start + seconds - 1_001 / 30_000, end: start + seconds });

describe('priceOf', () => {
  it.each(['image', 'canvas'] as const)('charges one credit for an %s', (kind) => {
    expect(priceOf({ kind }, LIVE)).toBe(1);
  });

  it.each([
    [0.5, 1],
    [4.9, 1],
    [5, 1],
    [5.005, 1],
    [5.2, 2],
    [10, 2],
    [12, 3],
    [60, 12],
    [60.06, 13],
  ])('a video of %f seconds costs %i credits', (seconds, credits) => {
    expect(priceOf(steady(seconds), LIVE)).toBe(credits);
  });

  it('counts from the first frame of a video that does not start at zero', () => {
    expect(priceOf(steady(5, 1.4), LIVE)).toBe(1);
    expect(priceOf(steady(5.2, 1.4), LIVE)).toBe(2);
  });

  it('counts the time in which the last frame of a video is still shown', () => {
    expect(priceOf(video({ start: 0, lastStart: 1, end: 12 }), LIVE)).toBe(3);
    expect(priceOf(video({ start: 0, lastStart: 1, end: 5.1 }), LIVE)).toBe(2);
    expect(priceOf(video({ start: 0, lastStart: 1, end: 5.09 }), LIVE)).toBe(1);
  });

  it('starts a new block of five seconds with a frame that starts in it', () => {
    expect(priceOf(video({ start: 0, lastStart: 5, end: 5.03 }), LIVE)).toBe(2);
    expect(priceOf(video({ start: 0, lastStart: 4.999, end: 5.03 }), LIVE)).toBe(1);
  });

  it('charges one credit for a video of a single frame', () => {
    expect(priceOf(video({ start: 0, lastStart: 0, end: 0.04 }), LIVE)).toBe(1);
  });

  it.each([{ kind: 'image' }, { kind: 'canvas' }, steady(12)] as const)(
    'test keys and replays are free ($kind)',
    (media) => {
      expect(priceOf(media, { mode: 'test', isReplay: false })).toBe(0);
      expect(priceOf(media, { mode: 'live', isReplay: true })).toBe(0);
    },
  );
});
