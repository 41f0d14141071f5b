import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelOutline, type LabelRow } from './label-shape.ts';

const EM = 100;

/** Returns rows of 160 pixels, 120 apart, centered at 1000 with these half-widths. */
function rows(...halves: readonly number[]): LabelRow[] {
  return halves.map((half, index) => ({
    left: 1000 - half,
    right: 1000 + half,
    top: index * 120,
    bottom: index * 120 + 160,
  }));
}

const corners = (...halves: readonly number[]): string[] =>
  labelOutline(rows(...halves), EM).map(({ x, y, radius }) => `${x},${y} r${radius}`);

describe('labelOutline', () => {
  it('the outline of one line is a rectangle with round corners', () => {
    expect(corners(300)).toEqual(['1300,0 r30', '1300,160 r30', '700,160 r30', '700,0 r30']);
  });

  it('joins a wide line and a narrow one below it at the bottom of the wide one', () => {
    expect(corners(300, 100).slice(0, 4)).toEqual(['1300,0 r30', '1300,160 r30', '1100,160 r30', '1100,280 r30']);
  });

  it('joins a narrow line and a wide one below it at the top of the wide one', () => {
    expect(corners(100, 300).slice(0, 4)).toEqual(['1100,0 r30', '1100,120 r30', '1300,120 r30', '1300,280 r30']);
  });

  it('aligns edges of lines with nearly the same width to the wider one', () => {
    expect(corners(300, 280)).toEqual(['1300,0 r30', '1300,280 r30', '700,280 r30', '700,0 r30']);
    expect(corners(220, 260, 300)).toEqual(['1300,0 r30', '1300,400 r30', '700,400 r30', '700,0 r30']);
  });

  it('uses smaller corners where a step is too short for two of them', () => {
    expect(corners(300, 250).slice(0, 4)).toEqual(['1300,0 r30', '1300,160 r25', '1250,160 r25', '1250,280 r30']);
  });

  it('never lets two corners take more than the edge between them', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 20, max: 600 }), { minLength: 1, maxLength: 8 }), (halves) => {
        const outline = labelOutline(rows(...halves), EM);
        outline.forEach((corner, index) => {
          const next = outline[(index + 1) % outline.length] ?? corner;
          const length = Math.abs(corner.x - next.x) + Math.abs(corner.y - next.y);
          expect(corner.radius + next.radius).toBeLessThanOrEqual(length);
          // Edges alternate between horizontal and vertical ones.
          expect(corner.x === next.x || corner.y === next.y).toBe(true);
        });
      }),
    );
  });
});
