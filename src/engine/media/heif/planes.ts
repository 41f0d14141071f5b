// The planes of a decoded frame, whatever its pixel format.

import { avGetPixFmtName, type Frame } from 'node-av/lib';
import type { Size } from '../../layout/geometry.ts';
import { must } from '../../../shared/must.ts';
import { undecodableHeif } from './refusal.ts';

export interface Plane {
  readonly samples: Uint8Array | Uint16Array;
  /** The number of samples from one row to the next. */
  readonly stride: number;
}

export interface Planes extends Size {
  readonly bits: number;
  readonly luma: Plane;
  /** Cb and Cr, or blue and red; absent for gray. */
  readonly chroma?: readonly [Plane, Plane];
  /** True when the planes are green, blue and red. */
  readonly isRgb: boolean;
  /** True when chroma has half the columns, or half the rows. */
  readonly halfWidth: boolean;
  readonly halfHeight: boolean;
}

const PIXEL_FORMAT = /^(?:(?<kind>gray|gbrp)|yuvj?(?<sampling>420|422|444|440)p)(?<bits>\d+)?(?:le)?$/u;

export function planesOf(frame: Frame): Planes {
  const name = avGetPixFmtName(frame.format as Parameters<typeof avGetPixFmtName>[0]) ?? 'unknown';
  const groups = PIXEL_FORMAT.exec(name)?.groups;
  if (groups === undefined) throw undecodableHeif(`its pixel format (${name}) isn't supported`);
  const bits = Number(groups['bits'] ?? 8);
  const data = must(frame.data, 'the planes of the frame');
  const { linesize } = frame;
  const plane = (index: number): Plane => {
    const { buffer, byteOffset, length } = must(data[index], 'the plane');
    const bytesPerRow = must(linesize[index], 'the line size');
    if (bits === 8) return { samples: new Uint8Array(buffer, byteOffset, length), stride: bytesPerRow };
    return { samples: new Uint16Array(buffer, byteOffset, length >> 1), stride: bytesPerRow / 2 };
  };
  const sampling = groups['sampling'];
  return {
    width: frame.width,
    height: frame.height,
    bits,
    luma: plane(0),
    ...(groups['kind'] !== 'gray' && { chroma: [plane(1), plane(2)] as const }),
    isRgb: groups['kind'] === 'gbrp',
    halfWidth: sampling === '420' || sampling === '422',
    halfHeight: sampling === '420' || sampling === '440',
  };
}
