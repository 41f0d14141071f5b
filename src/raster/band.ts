// Finished overlay pixels. Bars that overlap are merged into one band, so whoever bakes bands into media or writes them
// to a transparent PNG uses the very same bytes.

export interface Band {
  readonly top: number;
  readonly height: number;
  /** Always the width of the canvas. */
  readonly width: number;
  /** Straight (not premultiplied) RGBA, row by row. */
  readonly pixels: Uint8ClampedArray;
}

/** `over` of one straight RGBA pixel row range onto another, in place; both are `count` pixels long. */
export function compositeOver(
  below: Uint8ClampedArray,
  belowStart: number,
  above: Uint8ClampedArray,
  aboveStart: number,
  count: number,
): void {
  for (let pixel = 0; pixel < count; pixel += 1) {
    const target = belowStart + pixel * 4;
    const source = aboveStart + pixel * 4;
    const aboveAlpha = above[source + 3] ?? 0;
    const belowShare = ((below[target + 3] ?? 0) * (255 - aboveAlpha)) / 255;
    const alpha = aboveAlpha + belowShare;
    if (alpha === 0) continue;
    for (let channel = 0; channel < 3; channel += 1) {
      const mixed = (above[source + channel] ?? 0) * aboveAlpha + (below[target + channel] ?? 0) * belowShare;
      below[target + channel] = mixed / alpha;
    }
    below[target + 3] = alpha;
  }
}
