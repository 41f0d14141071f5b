import type { Paint } from './clip.ts';

export type Rgb = readonly [number, number, number];

interface Encoding {
  /** The luma coefficients of red and blue. */
  readonly red: number;
  readonly blue: number;
  readonly full?: boolean;
  readonly bits?: 8 | 10;
}

export const BT709 = { red: 0.2126, blue: 0.0722 } as const;
export const BT601 = { red: 0.299, blue: 0.114 } as const;
export const BT2020 = { red: 0.2627, blue: 0.0593 } as const;

/** Converts full-range RGB in 0..255 to YUV. Independent of the code under test. */
export function toYuv([r, g, b]: Rgb, { red, blue, full = false, bits = 8 }: Encoding): Rgb {
  const luma = (red * r + (1 - red - blue) * g + blue * b) / 255;
  const u = (b / 255 - luma) / (2 * (1 - blue));
  const v = (r / 255 - luma) / (2 * (1 - red));
  const unit = bits === 10 ? 4 : 1;
  const top = bits === 10 ? 1023 : 255;
  if (full) return [luma * top, u * top + 128 * unit, v * top + 128 * unit];
  return [(16 + 219 * luma) * unit, (128 + 224 * u) * unit, (128 + 224 * v) * unit];
}

export function paintYuv(colorAt: (x: number, y: number, frame: number) => Rgb, encoding: Encoding): Paint {
  return (plane, x, y, frame) => toYuv(colorAt(x, y, frame), encoding)[plane] ?? (encoding.bits === 10 ? 1023 : 255);
}

export const RED: Rgb = [200, 40, 40];
export const GREEN: Rgb = [40, 180, 60];
export const BLUE: Rgb = [40, 60, 200];
export const GRAY: Rgb = [128, 128, 128];

/** Red and green above blue and gray. Looks different in every orientation. */
export function quadrants(width: number, height: number): (x: number, y: number) => Rgb {
  return (x, y) => (y < height / 2 ? (x < width / 2 ? RED : GREEN) : x < width / 2 ? BLUE : GRAY);
}

/** The largest difference of any channel. */
export function distance(a: Rgb, b: Rgb): number {
  return Math.max(Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1]), Math.abs(a[2] - b[2]));
}
