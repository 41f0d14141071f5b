// Encodes raw pixels as PNG. Rows are compressed in strips, so that the memory of the encoder stays small and the event
// loop gets a turn in between.

import { setImmediate } from 'node:timers/promises';
import type { RawImage } from '../blend.ts';
import { COLOR_TYPE, chunk, imageHeader, SIGNATURE } from './chunks.ts';
import { withEncoder } from './encoder.ts';
import { GrowingBuffer } from './growing-buffer.ts';

const ZLIB_HEADER = Uint8Array.of(0x78, 0x01);

/** Color photos stay three-channel. An image without any color becomes grayscale, which takes a third of the bytes. */
export async function encodePng(image: RawImage, signal?: AbortSignal): Promise<Buffer> {
  if (image.channels === 4) return await encodeAs(COLOR_TYPE.rgba, image, image.channels, signal);
  if (isGray(image)) return await encodeAs(COLOR_TYPE.gray, image, 1, signal);
  return await encodeAs(COLOR_TYPE.rgb, image, image.channels, signal);
}

async function encodeAs(
  colorType: number,
  image: RawImage,
  bytesPerPixel: 1 | 3 | 4,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  const { width, height } = image;
  const stride = width * bytesPerPixel;
  const file = new GrowingBuffer();
  await withEncoder(async (encoder) => {
    const rowsPerStrip = encoder.rowsPerStrip(stride);
    encoder.start(stride);
    for (let top = 0; top < height; top += rowsPerStrip) {
      const rows = Math.min(rowsPerStrip, height - top);
      copyRows(image, top * width, encoder.strip(rows * stride), bytesPerPixel);
      const bytes = encoder.encode(rows, stride, bytesPerPixel, top + rows === height);
      file.expectMore((bytes.length * (height - top)) / rows);
      if (top === 0) file.add(SIGNATURE, ...imageHeader(image, colorType), ...chunk('IDAT', ZLIB_HEADER, bytes));
      else file.add(...chunk('IDAT', bytes));
      await setImmediate(undefined, { signal });
    }
  });
  file.add(...chunk('IEND'));
  return file.bytes;
}

function isGray({ data }: RawImage): boolean {
  for (let at = 0; at < data.length; at += 3) {
    const level = data[at];
    if (level !== data[at + 1] || level !== data[at + 2]) return false;
  }
  return true;
}

function copyRows({ data, channels }: RawImage, firstPixel: number, strip: Uint8Array, bytesPerPixel: number): void {
  const from = firstPixel * channels;
  if (bytesPerPixel === channels) {
    strip.set(data.subarray(from, from + strip.length));
    return;
  }
  for (let pixel = 0; pixel < strip.length; pixel += 1) strip[pixel] = data[from + pixel * channels] ?? 0;
}
