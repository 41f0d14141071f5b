// Raw pixels -> PNG by a native encoder. It has no door for raw RGB, so the pixels enter through its PNM decoder: a text
// header in front of the bytes, and opaque photos stay three-channel.

import { CompressionType, FilterType, Transformer } from '@napi-rs/image';
import type { RawImage } from '../blend.ts';

export async function encodePng(image: RawImage, signal?: AbortSignal): Promise<Buffer> {
  const framed = Buffer.concat([pnmHeader(image), image.data]);
  return await new Transformer(framed).png(
    { compressionType: CompressionType.Fast, filterType: FilterType.Paeth },
    signal ?? null,
  );
}

function pnmHeader({ width, height, channels }: RawImage): Buffer {
  return Buffer.from(
    channels === 3
      ? `P6\n${width} ${height}\n255\n`
      : `P7\nWIDTH ${width}\nHEIGHT ${height}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n`,
  );
}
