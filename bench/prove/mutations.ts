// Real files, damaged on purpose and by seed: bits, blocks, lengths, joints. Checksums of PNG are mended, since a decoder
// that stops at the first wrong one would never see what lies behind it.

import { crc32 } from 'node:zlib';
import type { Random } from '../../test/store/random.ts';

type Mutation = (bytes: Buffer, random: Random, others: readonly Buffer[]) => Buffer;

const EXTREMES = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff] as const;

const MUTATIONS: readonly Mutation[] = [
  // Some bytes become others.
  (bytes, random) => {
    for (let hit = 0; hit <= random.whole(16); hit += 1) bytes[random.whole(bytes.length)] = random.whole(256);
    return bytes;
  },
  // Single bits, near the beginning, where headers are.
  (bytes, random) => {
    for (let hit = 0; hit <= random.whole(8); hit += 1) {
      const at = random.whole(Math.min(bytes.length, 512));
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.whole(8));
    }
    return bytes;
  },
  // A number becomes an extreme one, of either byte order.
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
  (bytes, random) => bytes.subarray(0, random.whole(bytes.length)),
  (bytes, random) => {
    const [from, to] = [random.whole(bytes.length), random.whole(bytes.length)];
    return bytes.fill(random.pick([0, 0xff, 0x55]), Math.min(from, to), Math.max(from, to));
  },
  // A block appears twice, or is gone.
  (bytes, random) => {
    const from = random.whole(bytes.length);
    const block = bytes.subarray(from, from + random.whole(4_096));
    const at = random.whole(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), block, bytes.subarray(at)]);
  },
  (bytes, random) => {
    const at = random.whole(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.whole(4_096))]);
  },
  // The head of one file, the tail of another.
  (bytes, random, others) => {
    const other = random.pick(others);
    return Buffer.concat([bytes.subarray(0, random.whole(bytes.length)), other.subarray(random.whole(other.length))]);
  },
];

/** Keeps the first bytes most of the time, or nothing would get past the look at what a file is. */
const MAGIC_BYTES = 16;

export function mutate(original: Buffer, random: Random, others: readonly Buffer[]): Buffer {
  let bytes = Buffer.from(original);
  const rounds = 1 + random.whole(3);
  for (let round = 0; round < rounds && bytes.length > 0; round += 1) {
    bytes = Buffer.from(random.pick(MUTATIONS)(bytes, random, others));
  }
  if (random.whole(10) > 0) original.copy(bytes, 0, 0, Math.min(MAGIC_BYTES, bytes.length));
  return isPng(bytes) ? mendPng(bytes) : bytes;
}

function isPng(bytes: Buffer): boolean {
  return bytes.length > 8 && bytes.readUInt32BE(0) === 0x8950_4e47;
}

function mendPng(bytes: Buffer): Buffer {
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    if (end + 4 > bytes.length) break;
    bytes.writeUInt32BE(crc32(bytes.subarray(at + 4, end)), end);
    at = end + 4;
  }
  return bytes;
}
