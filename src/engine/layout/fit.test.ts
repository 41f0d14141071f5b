import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../scripts/seeded-random.ts';
import { FIT_MODES } from '../caption/fit.ts';
import { assertEnlargement, placeInto } from './fit.ts';

describe('placeInto', () => {
  it('contains an asset between two strips, and crops two of its sides', () => {
    const [asset, canvas] = [
      { width: 1920, height: 1080 },
      { width: 1080, height: 1920 },
    ];
    expect(placeInto(asset, canvas, 'pad').target).toEqual({ left: 0, top: 656, width: 1080, height: 608 });
    expect(placeInto(asset, canvas, 'crop').source).toEqual({ left: 656, top: 0, width: 608, height: 1080 });
  });

  it('stretches an asset whose aspect ratio differs only by rounding', () => {
    const { source, target } = placeInto({ width: 1919, height: 1080 }, { width: 1280, height: 720 }, 'blur');
    expect(source).toEqual({ left: 0, top: 0, width: 1919, height: 1080 });
    expect(target).toEqual({ left: 0, top: 0, width: 1280, height: 720 });
  });

  it('stays inside asset and canvas, keeps the aspect ratio and touches two sides, at random sizes', () => {
    const random = seededRandom(7);
    const side = (): number => 2 * Math.ceil(random() * 1500);
    for (let round = 0; round < 150; round += 1) {
      const [asset, canvas] = [
        { width: side(), height: side() },
        { width: side(), height: side() },
      ];
      for (const mode of FIT_MODES) {
        for (const step of [1, 2] as const) {
          const { source, target } = placeInto(asset, canvas, mode, step);
          for (const [part, frame] of [
            [source, asset],
            [target, canvas],
          ] as const) {
            expect(part.left >= 0 && part.left + part.width <= frame.width).toBe(true);
            expect(part.top >= 0 && part.top + part.height <= frame.height).toBe(true);
            expect([part.left, part.top, part.width, part.height].every((number) => number % step === 0)).toBe(true);
            expect(part.width === frame.width || part.height === frame.height).toBe(true);
          }
        }
      }
    }
  });
});

describe('assertEnlargement', () => {
  const fit = { mode: 'blur', color: '#000000', width: 1000, height: 1000 } as const;

  it('warns above twice the size and refuses more than four times', () => {
    expect(assertEnlargement({ width: 500, height: 500 }, fit)).toBe(false);
    expect(assertEnlargement({ width: 499, height: 499 }, fit)).toBe(true);
    expect(assertEnlargement({ width: 250, height: 100 }, fit)).toBe(true);
    expect(() => assertEnlargement({ width: 249, height: 100 }, fit)).toThrow('the limit is 4');
    expect(() => assertEnlargement({ width: 1000, height: 249 }, { ...fit, mode: 'crop' })).toThrow('the limit is 4');
  });
});
