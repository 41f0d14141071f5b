// Writes GIFs frame by frame, with the delays and disposal methods that encoders avoid.

export interface GifFrame {
  /** The delay in hundredths of a second. */
  readonly delay: number;
  /** 1 keeps the frame, 2 clears it to the background, and 3 restores the previous one. */
  readonly disposal?: 1 | 2 | 3;
  /** An index of `GIF_COLORS`; undefined is transparent. */
  readonly color: number | undefined;
  readonly left?: number;
  readonly top?: number;
  readonly width?: number;
  readonly height?: number;
}

export const GIF_COLORS = [
  [0, 0, 0],
  [200, 30, 30],
  [30, 180, 30],
  [30, 30, 200],
] as const;
const TRANSPARENT = 0;

export function gifFile(width: number, height: number, frames: readonly GifFrame[]): Buffer {
  const parts = frames.map(({ delay, disposal = 1, color, left = 0, top = 0, ...size }) => {
    const { width: w = width, height: h = height } = size;
    const control = [0x21, 0xf9, 4, (disposal << 2) | 1, delay & 255, delay >> 8, TRANSPARENT, 0];
    const descriptor = Buffer.alloc(10);
    descriptor.writeUInt8(0x2c, 0);
    for (const [index, value] of [left, top, w, h].entries()) descriptor.writeUInt16LE(value, 1 + index * 2);
    return Buffer.concat([Buffer.from(control), descriptor, pixels(w * h, color ?? TRANSPARENT)]);
  });
  const head = Buffer.from('GIF89a\0\0\0\0\x81\0\0', 'latin1');
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  return Buffer.concat([head, Buffer.from(GIF_COLORS.flat()), ...parts, Buffer.from([0x3b])]);
}

/** Codes have three bits. The table is cleared before they would need four, so nothing is compressed. */
function pixels(count: number, color: number): Buffer {
  const codes: number[] = [];
  for (let pixel = 0; pixel < count; pixel += 1) codes.push(...(pixel % 2 === 0 ? [4, color] : [color]));
  codes.push(5);
  const bytes = Buffer.alloc(Math.ceil((codes.length * 3) / 8));
  for (const [index, code] of codes.entries()) {
    for (let bit = 0; bit < 3; bit += 1) {
      const at = index * 3 + bit;
      bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (((code >> bit) & 1) << (at & 7));
    }
  }
  const blocks: Buffer[] = [Buffer.from([2])];
  for (let at = 0; at < bytes.length; at += 255) {
    const block = bytes.subarray(at, at + 255);
    blocks.push(Buffer.from([block.length]), block);
  }
  return Buffer.concat([...blocks, Buffer.from([0])]);
}
