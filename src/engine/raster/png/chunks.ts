// The PNG structures that both writers use.

import { crc32 } from 'node:zlib';
import type { Size } from '../../layout/geometry.ts';

export const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** Returns the chunk in parts, so that the whole file is concatenated only once. */
export function chunk(type: string, ...parts: readonly Uint8Array[]): Uint8Array[] {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(
    parts.reduce((sum, { length }) => sum + length, 0),
    0,
  );
  head.write(type, 4, 'latin1');
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE([head.subarray(4), ...parts].reduce((sum, part) => crc32(part, sum), 0));
  return [head, ...parts, tail];
}

/** The color types of the IHDR chunk. */
export const COLOR_TYPE = { gray: 0, rgb: 2, palette: 3, rgba: 6 } as const;

export function imageHeader({ width, height }: Size, colorType: number): Uint8Array[] {
  const body = Buffer.alloc(13);
  body.writeUInt32BE(width, 0);
  body.writeUInt32BE(height, 4);
  body[8] = 8;
  body[9] = colorType;
  return chunk('IHDR', body);
}
