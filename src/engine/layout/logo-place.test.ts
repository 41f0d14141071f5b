import { describe, expect, it } from 'vitest';
import { LOGO_CORNERS } from '../caption/logo.ts';
import { type LogoPlace, placeLogo } from './logo-place.ts';
import { marginsFor, NO_MARGINS } from './safe-area.ts';

const CANVAS = { width: 1000, height: 2000 };
const LOGO = { width: 200, height: 100, share: 20, margin: 4 };
const bar = (top: number, height: number, left = 0, right = 1000) => ({ top, height, left, right });
const cornerOf = (place: LogoPlace | undefined) => place && [place.left, place.top];

describe('the place of a logo', () => {
  it('a logo is in its corner, with the margin on both sides', () => {
    const places = LOGO_CORNERS.map((corner) => placeLogo(CANVAS, { ...LOGO, corner }, NO_MARGINS, []));
    expect(places.map(cornerOf)).toEqual([
      [40, 40],
      [760, 40],
      [40, 1860],
      [760, 1860],
    ]);
    expect(places[0]).toMatchObject({ width: 200, height: 100, isMoved: false });
  });

  it('a logo stays inside the safe area with its margin, also where it moves', () => {
    const canvas = { width: 1080, height: 1920 };
    const safe = marginsFor(canvas, 'all');
    for (const corner of LOGO_CORNERS) {
      for (const captions of [[], [bar(250, 200, 0, 1080), bar(1000, 300, 0, 1080)]]) {
        const { left, top, width, height } = placeLogo(canvas, { ...LOGO, corner }, safe, captions) ?? {
          left: -1,
          top: -1,
          width: 0,
          height: 0,
        };
        expect(left).toBeGreaterThanOrEqual(safe.left + 42);
        expect(left + width).toBeLessThanOrEqual(1080 - safe.right - 42);
        expect(top).toBeGreaterThanOrEqual(safe.top + 43);
        expect(top + height).toBeLessThanOrEqual(1920 - safe.bottom - 43);
      }
    }
  });

  it('a logo that would cover a caption moves along its edge and keeps its margin to the caption', () => {
    const bottom = { ...LOGO, corner: 'bottom-right' } as const;
    expect(placeLogo(CANVAS, bottom, NO_MARGINS, [bar(1900, 100)])).toMatchObject({ top: 1760, isMoved: true });
    const two = [bar(1900, 100), bar(1650, 150)];
    expect(placeLogo(CANVAS, bottom, NO_MARGINS, two)).toMatchObject({ left: 760, top: 1510, isMoved: true });
    const top = { ...LOGO, corner: 'top-left' } as const;
    expect(placeLogo(CANVAS, top, NO_MARGINS, [bar(0, 100)])).toMatchObject({ left: 40, top: 140, isMoved: true });
  });

  it('a logo stays beside a caption that leaves its columns free', () => {
    const logo = { ...LOGO, corner: 'bottom-right' } as const;
    const place = placeLogo(CANVAS, logo, NO_MARGINS, [bar(1860, 100, 0, 760)]);
    expect(place).toMatchObject({ left: 760, top: 1860, isMoved: false });
  });

  it('a logo has no place where captions fill its edge', () => {
    expect(placeLogo(CANVAS, { ...LOGO, corner: 'top-left' }, NO_MARGINS, [bar(0, 1950)])).toBeUndefined();
  });

  it('a logo keeps its shape, and a tall one takes up at most half of the height', () => {
    const tall = { ...LOGO, width: 10, height: 1000, corner: 'top-left' } as const;
    expect(placeLogo(CANVAS, tall, NO_MARGINS, [])).toMatchObject({ width: 10, height: 1000 });
    const banner = { width: 2000, height: 100 };
    const {
      width = 0,
      height = 0,
      top = 0,
    } = placeLogo(banner, { ...LOGO, corner: 'top-left', margin: 20 }, NO_MARGINS, []) ?? {};
    expect([width, height, top]).toEqual([100, 50, 25]);
  });

  it('a logo starts at an even column, because frames of a video store colors for pairs of them', () => {
    for (const width of [100, 101, 333, 1079]) {
      for (const corner of LOGO_CORNERS) {
        const place = placeLogo({ width, height: 200 }, { ...LOGO, corner }, NO_MARGINS, []);
        expect((place?.left ?? 1) % 2).toBe(0);
      }
    }
  });
});
