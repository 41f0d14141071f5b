// The color encoding of an image: a transfer function and the chromaticities of its primaries. PNG describes them in
// chunks, and some color profiles refer to them by number (ITU-T H.273).

export type ImageTransfer = 'srgb' | 'pq' | 'hlg' | number;

/** The gamma of a BT.1886 display, which browsers use for the curves of television, too. */
const TELEVISION = 2.4;

export interface ColorEncoding {
  /** A number is the exponent of a plain power function; 1 means linear light. */
  readonly transfer: ImageTransfer;
  /** x and y of white, red, green and blue, in the order of PNG's cHRM chunk. */
  readonly chromaticities: readonly number[];
}

const D65 = [0.3127, 0.329] as const;
export const SRGB_CHROMATICITIES: readonly number[] = [...D65, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06];
export const BT2020_CHROMATICITIES: readonly number[] = [...D65, 0.708, 0.292, 0.17, 0.797, 0.131, 0.046];

const PRIMARIES: ReadonlyMap<number, readonly number[]> = new Map([
  [1, SRGB_CHROMATICITIES],
  [4, [0.31, 0.316, 0.67, 0.33, 0.21, 0.71, 0.14, 0.08]],
  [5, [...D65, 0.64, 0.33, 0.29, 0.6, 0.15, 0.06]],
  [6, [...D65, 0.63, 0.34, 0.31, 0.595, 0.155, 0.07]],
  [7, [...D65, 0.63, 0.34, 0.31, 0.595, 0.155, 0.07]],
  [9, BT2020_CHROMATICITIES],
  [11, [0.314, 0.351, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06]],
  [12, [...D65, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06]],
  [22, [...D65, 0.63, 0.34, 0.295, 0.605, 0.155, 0.077]],
]);
const TRANSFERS: ReadonlyMap<number, ImageTransfer> = new Map<number, ImageTransfer>([
  [1, TELEVISION],
  [4, 2.2],
  [5, 2.8],
  [6, TELEVISION],
  [8, 1],
  [13, 'srgb'],
  [14, TELEVISION],
  [15, TELEVISION],
  [16, 'pq'],
  [18, 'hlg'],
]);

/** Looks up the code points of H.273. Returns undefined for those that aren't known or don't apply to RGB. */
export function encodingOf(primaries: number, transfer: number): ColorEncoding | undefined {
  const chromaticities = PRIMARIES.get(primaries);
  const curve = TRANSFERS.get(transfer);
  return chromaticities === undefined || curve === undefined ? undefined : { transfer: curve, chromaticities };
}

/** Tolerates the rounding of encoders, and the 2.2 that old ones wrote for the sRGB curve. */
export function isSrgbEncoding({ transfer, chromaticities }: ColorEncoding): boolean {
  const isSrgbCurve = transfer === 'srgb' || (typeof transfer === 'number' && Math.abs(1 / transfer - 0.45455) < 0.02);
  return (
    isSrgbCurve && chromaticities.every((value, index) => Math.abs(value - (SRGB_CHROMATICITIES[index] ?? 0)) < 0.002)
  );
}
