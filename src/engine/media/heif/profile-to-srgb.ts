// Converts pixels with a color profile to sRGB. The image decoder does this only while it reads a file, so the pixels are
// handed to it as an uncompressed PNG.

import { crc32, deflateSync } from 'node:zlib';
import { type DecodedImage, decodeImage } from '../image.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const RGB = 2;
const RGBA = 6;

export async function profileToSrgb(image: DecodedImage, icc: Buffer): Promise<DecodedImage> {
  const png = uncompressedPng(image, icc);
  return await decodeImage(png, { maxPixels: image.width * image.height, ignoreProfile: false });
}

function uncompressedPng({ width, height, channels, data }: DecodedImage, icc: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, channels === 3 ? RGB : RGBA], 8);
  const rowBytes = width * channels;
  // Each row starts with a byte for its filter, where 0 means none.
  const rows = new Uint8Array((rowBytes + 1) * height);
  for (let y = 0; y < height; y += 1) {
    rows.set(data.subarray(y * rowBytes, (y + 1) * rowBytes), y * (rowBytes + 1) + 1);
  }
  const profile = Buffer.concat([Buffer.from('icc\0\0', 'latin1'), deflateSync(icc)]);
  return Buffer.concat([
    SIGNATURE,
    ...chunk('IHDR', header),
    ...chunk('iCCP', profile),
    ...chunk('IDAT', deflateSync(rows, { level: 0 })),
    ...chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer[] {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const name = Buffer.from(type, 'latin1');
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(data, crc32(name)));
  return [length, name, data, checksum];
}
