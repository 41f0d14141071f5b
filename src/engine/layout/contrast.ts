// Contrast ratios as WCAG 2 defines them, of colors with 8 bits per channel.

/** Four bytes, not premultiplied. */
export interface Color {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  readonly alpha: number;
}

/** The linear light that a channel can have. */
interface ChannelRange {
  readonly low: number;
  readonly high: number;
}

/** Red, green and blue. */
export type ColorRange = readonly [ChannelRange, ChannelRange, ChannelRange];

/** WCAG adds this light, which a screen reflects, to that of both colors. */
const FLARE = 0.05;

const LINEAR: Float64Array = Float64Array.from({ length: 256 }, (_, value) => toLinear(value));

function toLinear(value: number): number {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

/** Returns the relative luminance of a color, from 0 to 1. */
export function luminance(red: number, green: number, blue: number): number {
  return 0.2126 * toLinear(red) + 0.7152 * toLinear(green) + 0.0722 * toLinear(blue);
}

/** Returns the contrast ratio of two luminances, from 1 to 21. */
export function contrast(one: number, other: number): number {
  return (Math.max(one, other) + FLARE) / (Math.min(one, other) + FLARE);
}

/** Returns what red, green and blue of a translucent color can become over any photo. */
export function channelRanges({ red, green, blue, alpha }: Color): ColorRange {
  const rangeOf = (value: number): ChannelRange => {
    const low = (value * alpha) / 255;
    return { low: toLinear(low), high: toLinear(low + 255 - alpha) };
  };
  return [rangeOf(red), rangeOf(green), rangeOf(blue)];
}

/** Returns the lowest contrast of a channel's value, a byte, with the values of a range. For grays, it is that of WCAG. */
export function channelContrast(value: number, { low, high }: ChannelRange): number {
  const light = LINEAR[value] ?? 0;
  return contrast(light, Math.min(Math.max(light, low), high));
}
