// Raw pixels -> PNG by a native encoder. It has no entry point for raw RGB, so the pixels enter through its PNM decoder: a text
// header in front of the bytes, and opaque photos stay three-channel.

import { availableParallelism } from 'node:os';
import { CompressionType, FilterType, Transformer } from '@napi-rs/image';
import type { RawImage } from '../blend.ts';
import { joinStrips } from './join.ts';

/**
 * From here on a second core is worth its while: a photo of 1080x1920 takes a quarter less time, and where all cores are
 * busy there are as many of them in a second. Of smaller ones there would be fewer. A strip has half of this at least.
 */
const PIXELS_FOR_TWO = 2_000_000;
const MAX_STRIPS = 4;

export async function encodePng(image: RawImage, signal?: AbortSignal): Promise<Buffer> {
  const count = Math.min(
    availableParallelism(),
    MAX_STRIPS,
    Math.floor((2 * image.width * image.height) / PIXELS_FOR_TWO),
  );
  return (count > 1 ? await encodeInStrips(image, count, signal) : undefined) ?? (await encodeWhole(image, signal));
}

async function encodeWhole(image: RawImage, signal: AbortSignal | undefined): Promise<Buffer> {
  const options = { compressionType: CompressionType.Fast, filterType: FilterType.Paeth };
  return await new Transformer(framedPixels(image)).png(options, signal ?? null);
}

/** One part of the rows per core, each in a thread of the pool. The first goes in place and is on its way while the others are copied. */
export async function encodeInStrips(
  image: RawImage,
  count: number,
  signal: AbortSignal | undefined,
): Promise<Buffer | undefined> {
  const rowLength = image.width * image.channels;
  const tops = Array.from({ length: count + 1 }, (_, index) => Math.floor((image.height * index) / count));
  const strips = tops.slice(0, -1).map(async (top, index) => {
    const height = (tops[index + 1] ?? image.height) - top;
    const data = image.data.subarray(top * rowLength, (top + height) * rowLength);
    const headroom = index === 0 ? (image.headroom ?? 0) : 0;
    return { height, png: await encodeWhole({ ...image, height, data, headroom }, signal) };
  });
  return joinStrips(image, await Promise.all(strips));
}

/** Without a copy where there is room in front of the pixels: at 12 megapixels the copy is a tenth of a render. */
function framedPixels(image: RawImage): Buffer {
  const header = pnmHeader(image);
  const { data, headroom = 0 } = image;
  if (headroom < header.length) return Buffer.concat([header, data]);
  const framed = Buffer.from(data.buffer, data.byteOffset - header.length, header.length + data.length);
  header.copy(framed);
  return framed;
}

function pnmHeader({ width, height, channels }: RawImage): Buffer {
  return Buffer.from(
    channels === 3
      ? `P6\n${width} ${height}\n255\n`
      : `P7\nWIDTH ${width}\nHEIGHT ${height}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n`,
  );
}
