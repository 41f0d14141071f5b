// What the segments before the first scan of a JPEG say about the image.

import type { Size } from '../../layout/geometry.ts';
import { type Frame, MARKER, type Scan, Segments } from './segments.ts';

export interface Component {
  readonly id: number;
  /** Sampling factors. */
  readonly horizontal: number;
  readonly vertical: number;
  /** Quantization steps in zigzag order. Those of another component if its own come after the first scan. */
  readonly steps: Uint16Array;
}

/** How the samples of an image mean colors. */
type ColorModel = 'gray' | 'ycc' | 'rgb' | 'other';

export interface JpegHeaders extends Size {
  readonly components: readonly Component[];
  readonly colorModel: ColorModel;
  /** The embedded color profile. It is empty if a part of it is missing. */
  readonly profile: Uint8Array | undefined;
  /** Bits per sample. */
  readonly precision: number;
  readonly isProgressive: boolean;
  /** True if its coefficients can be read and written without decoding the image. */
  readonly isCarriable: boolean;
  readonly firstScan: Scan;
}

/** The most blocks of an interleaved MCU. */
const MAX_MCU_BLOCKS = 10;

/** Returns `undefined` for a damaged file, and for one without quantization tables. */
export function readHeaders(file: Uint8Array): JpegHeaders | undefined {
  return readSegments(file)?.headers;
}

/** The same, and the segments to go on reading after the first scan. */
export function readSegments(file: Uint8Array): { headers: JpegHeaders; segments: Segments } | undefined {
  if (file[0] !== 0xff || file[1] !== 0xd8) return undefined;
  const segments = new Segments(file);
  const firstScan = segments.next(2);
  const { frame, profile } = segments;
  if (firstScan === undefined || firstScan === 'end' || frame === undefined) return undefined;
  const components: Component[] = [];
  for (const { table, ...component } of frame.components) {
    const steps = segments.quantization[table] ?? segments.quantization.find((other) => other !== undefined);
    if (steps === undefined) return undefined;
    components.push({ ...component, steps });
  }
  const { width, height, precision } = frame;
  const colorModel = colorModelOf(segments, frame);
  const isProgressive = frame.marker === MARKER.sof2;
  const isCarriable = frame.marker <= MARKER.sof2 && precision === 8 && isCarriableColor(colorModel, components);
  const headers = { width, height, components, colorModel, profile, precision, isProgressive, isCarriable, firstScan };
  return { headers, segments };
}

function isCarriableColor(model: ColorModel, components: readonly Component[]): boolean {
  if (model !== 'gray' && model !== 'ycc') return false;
  const { width, height } = largestFactors(components);
  const blocks = components.reduce((sum, { horizontal, vertical }) => sum + horizontal * vertical, 0);
  return (
    blocks <= MAX_MCU_BLOCKS &&
    components.every((one) => isScale(width / one.horizontal) && isScale(height / one.vertical))
  );
}

/** How many pixels a sample covers. */
function isScale(scale: number): boolean {
  return scale === 1 || scale === 2 || scale === 4;
}

/** The largest sampling factors. */
export function largestFactors(components: readonly Component[]): Size {
  return {
    width: Math.max(...components.map(({ horizontal }) => horizontal)),
    height: Math.max(...components.map(({ vertical }) => vertical)),
  };
}

/** "RGB" as numbers of components. */
const RGB_IDS = '82,71,66';

/** The rules by which decoders tell YCbCr from RGB. */
function colorModelOf({ jfif, adobe }: Segments, { components }: Frame): ColorModel {
  if (components.length === 1) return 'gray';
  if (components.length !== 3) return 'other';
  if (jfif !== undefined) return 'ycc';
  if (adobe !== undefined) return adobe[11] === 0 ? 'rgb' : 'ycc';
  return components.map(({ id }) => id).join() === RGB_IDS ? 'rgb' : 'ycc';
}
