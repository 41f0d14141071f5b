import { describe, expect, it } from 'vitest';
import type { Band } from './band.ts';
import { toPlanarBand } from './planar.ts';

function band(top: number, height: number, width: number, rgba: readonly [number, number, number, number]): Band {
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let at = 0; at < pixels.length; at += 4) pixels.set(rgba, at);
  return { top, height, width, pixels };
}

function plane(planes: Uint8Array, width: number, height: number, index: 0 | 1 | 2 | 3): number[] {
  const luma = width * height;
  const starts = [0, luma, luma + luma / 4, luma + luma / 2, luma * 2 + luma / 2];
  return [...planes.subarray(starts[index], starts[index + 1])];
}

describe('toPlanarBand', () => {
  it('converts to BT.709 in limited range', () => {
    const white = toPlanarBand(band(0, 2, 2, [255, 255, 255, 255]));
    expect([...white.planes]).toEqual([235, 235, 235, 235, 128, 128, 255, 255, 255, 255]);
    const red = toPlanarBand(band(0, 2, 2, [255, 0, 0, 255]));
    expect(plane(red.planes, 2, 2, 0)[0]).toBe(63);
    expect(plane(red.planes, 2, 2, 1)).toEqual([102]);
    expect(plane(red.planes, 2, 2, 2)).toEqual([240]);
  });

  it('starts on an even row, with a transparent row above a band on an odd row', () => {
    const { top, height, width, planes } = toPlanarBand(band(5, 3, 2, [0, 0, 0, 150]));
    expect([top, width, height]).toEqual([4, 2, 4]);
    expect(plane(planes, 2, 4, 3)).toEqual([0, 0, 150, 150, 150, 150, 150, 150]);
  });

  it('has an even height, with a transparent row below an odd one', () => {
    const { height, planes } = toPlanarBand(band(4, 3, 2, [0, 0, 0, 150]));
    expect(height).toBe(4);
    expect(plane(planes, 2, 4, 3).slice(6)).toEqual([0, 0]);
  });

  it('weights chroma by alpha, so that invisible pixels add no color', () => {
    const mixed = band(0, 2, 2, [255, 0, 0, 255]);
    mixed.pixels.set([0, 0, 255, 0], 4);
    expect(plane(toPlanarBand(mixed).planes, 2, 2, 2)).toEqual([240]);
  });
});
