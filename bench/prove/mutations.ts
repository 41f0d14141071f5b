// Damages real files in repeatable ways, chosen by the seed. PNG checksums are corrected afterwards, because a decoder
// that stops at the first wrong checksum would never reach the damaged data.

import { crc32 } from 'node:zlib';
import type { Random } from '../../test/store/random.ts';

type Mutation = (bytes: Buffer, random: Random, others: readonly Buffer[]) => Buffer;

const EXTREMES = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff] as const;

const MUTATIONS: readonly Mutation[] = [
  // Replace random bytes.
  (bytes, random) => {
    for (let hit = 0; hit <= random.whole(16); hit += 1) bytes[random.whole(bytes.length)] = random.whole(256);
    return bytes;
  },
  // Flip single bits near the beginning, where headers are.
  (bytes, random) => {
    for (let hit = 0; hit <= random.whole(8); hit += 1) {
      const at = random.whole(Math.min(bytes.length, 512));
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.whole(8));
    }
    return bytes;
  },
  // Overwrite with extreme numbers, in either byte order.
  (bytes, random) => {
    if (bytes.length < 8) return bytes;
    for (let hit = 0; hit <= random.whole(3); hit += 1) {
      const at = random.whole(bytes.length - 4);
      const value = random.pick(EXTREMES);
      if (random.whole(2) === 0) bytes.writeUInt32BE(value, at);
      else bytes.writeUInt32LE(value, at);
    }
    return bytes;
  },
  // Truncate.
  (bytes, random) => bytes.subarray(0, random.whole(bytes.length)),
  // Overwrite a range with one value.
  (bytes, random) => {
    const [from, to] = [random.whole(bytes.length), random.whole(bytes.length)];
    return bytes.fill(random.pick([0, 0xff, 0x55]), Math.min(from, to), Math.max(from, to));
  },
  // Insert a copy of a block.
  (bytes, random) => {
    const from = random.whole(bytes.length);
    const block = bytes.subarray(from, from + random.whole(4_096));
    const at = random.whole(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), block, bytes.subarray(at)]);
  },
  // Delete a block.
  (bytes, random) => {
    const at = random.whole(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.whole(4_096))]);
  },
  // Join the head of one file and the tail of another.
  (bytes, random, others) => {
    const other = random.pick(others);
    return Buffer.concat([bytes.subarray(0, random.whole(bytes.length)), other.subarray(random.whole(other.length))]);
  },
];

/** The magic bytes are usually kept, because format detection would otherwise refuse almost every file. */
const MAGIC_BYTES = 16;

export function mutate(original: Buffer, random: Random, others: readonly Buffer[]): Buffer {
  let bytes = Buffer.from(original);
  const rounds = 1 + random.whole(3);
  for (let round = 0; round < rounds && bytes.length > 0; round += 1) {
    bytes = Buffer.from(random.pick(MUTATIONS)(bytes, random, others));
  }
  if (random.whole(10) > 0) original.copy(bytes, 0, 0, Math.min(MAGIC_BYTES, bytes.length));
  return isPng(bytes) ? fixPngChecksums(bytes) : bytes;
}

function isPng(bytes: Buffer): boolean {
  return bytes.length > 8 && bytes.readUInt32BE(0) === 0x8950_4e47;
}

function fixPngChecksums(bytes: Buffer): Buffer {
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    if (end + 4 > bytes.length) break;
    bytes.writeUInt32BE(crc32(bytes.subarray(at + 4, end)), end);
    at = end + 4;
  }
  return bytes;
}
