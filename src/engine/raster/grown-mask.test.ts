import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomCases } from '../../../test/random-cases.ts';
import { grown } from './grown-mask.ts';
import type { Mask } from './soft-shadow.ts';

/** This is the definition: each pixel gets the most that the disc of any pixel of the mask gives it. */
function grownSlowly({ width, values }: Mask, distance: number): Uint8Array {
  const discs = [...values.entries()].filter(([, value]) => value > 0);
  return values.map((own, at) => {
    const [x, y] = [at % width, Math.floor(at / width)];
    const coverages = discs.map(([center, value]) => {
      const away = Math.hypot((center % width) - x, Math.floor(center / width) - y);
      return Math.min(255, Math.round((distance + value / 255 - away) * 255));
    });
    return Math.max(own, ...coverages);
  });
}

const side = fc.integer({ min: 1, max: 24 });
/** The masks are noise, where every pixel is an edge, and smooth areas, where few are. */
const masks: fc.Arbitrary<Mask> = fc
  .tuple(side, side, fc.constantFrom(1, 40, 400), fc.nat())
  .chain(([width, height, steepness, phase]) =>
    fc.array(fc.nat(255), { minLength: width * height, maxLength: width * height }).map((noise) => ({
      width,
      height,
      values: Uint8Array.from(noise, (value, at) => {
        if (steepness === 1) return value < 230 ? 0 : value;
        const [x, y] = [at % width, Math.floor(at / width)];
        return Math.max(0, Math.min(255, Math.sin(x / 5 + phase) * Math.cos(y / 4) * steepness + value / 20));
      }),
    })),
  );

describe('grown', () => {
  it('covers exactly what discs around all pixels of the mask cover', () => {
    fc.assert(
      fc.property(masks, fc.double({ min: 1, max: 12, noNaN: true }), (mask, distance) => {
        expect(grown(mask, distance)).toEqual(grownSlowly(mask, distance));
      }),
      { numRuns: randomCases({ usually: 60, all: 500 }) },
    );
  });

  it('leaves an empty mask empty', () => {
    expect(grown({ width: 3, height: 2, values: new Uint8Array(6) }, 2)).toEqual(new Uint8Array(6));
  });
});
