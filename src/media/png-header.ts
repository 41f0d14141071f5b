// The decoder forgives a PNG whose first chunk does not match its checksum, and believes whatever size it states. Browsers
// refuse such a file, and so do we.

import { crc32 } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const CHUNK_TYPE_AT = 12;
const CHECKSUM_AT = 29;
/** Signature and the whole IHDR chunk. */
export const PNG_HEADER_LENGTH = 33;

export function hasBrokenPngHeader(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!head.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return false;
  if (head.length < PNG_HEADER_LENGTH) return true;
  return crc32(head.subarray(CHUNK_TYPE_AT, CHECKSUM_AT)) !== head.readUInt32BE(CHECKSUM_AT);
}
