// The decoder accepts a PNG whose IHDR chunk fails its checksum, and trusts its size. Like browsers, we reject it.

import { crc32 } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const CHUNK_TYPE_OFFSET = 12;
const CHECKSUM_OFFSET = 29;
/** The length of the signature and the whole IHDR chunk. */
export const PNG_HEADER_LENGTH = 33;

export function hasBrokenPngHeader(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!head.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return false;
  if (head.length < PNG_HEADER_LENGTH) return true;
  return crc32(head.subarray(CHUNK_TYPE_OFFSET, CHECKSUM_OFFSET)) !== head.readUInt32BE(CHECKSUM_OFFSET);
}
