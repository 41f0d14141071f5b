// The file format for an encoded segment on its way to the join: every packet with its exact timestamps, in a format
// that needs no demuxer. Segment files can be concatenated.

import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { Packet } from 'node-av/lib';
import { must } from '../../../primitives/must.ts';
import { rethrowAsStorageError } from '../../work-area.ts';
import type { Encoder } from '../frames/encoder.ts';
import type { PacketSink } from '../output.ts';

const MAGIC = Buffer.from('SBARSEG1', 'latin1');
/** The magic, then the length of the encoder headers that follow. */
const HEAD_BYTES = MAGIC.length + 4;
/** Size, keyframe flag, pts and duration. A size of zero marks the end of the segment. */
const RECORD_BYTES = 4 + 1 + 8 + 8;
/** Far above any frame that the encoder produces. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

export class SegmentWriter implements PacketSink {
  readonly #file: number;
  #bytes = 0;
  #packets = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'w', 0o600);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get packets(): number {
    return this.#packets;
  }

  addEncodedTrack(encoder: Encoder): number {
    const headers = encoderHeaders(encoder);
    const head = Buffer.alloc(HEAD_BYTES);
    MAGIC.copy(head);
    head.writeUInt32BE(headers.length, MAGIC.length);
    this.#append(Buffer.concat([head, headers]));
    return 0;
  }

  /** Timestamps stay in the encoder's time base, which the join uses as well. */
  write(packet: Packet): void {
    const { data, size, pts, duration, isKeyframe } = packet;
    if (data === null || size === 0) throw new Error('encoder returned an empty packet');
    this.#packets += 1;
    this.#append(formatRecord({ size, isKey: isKeyframe, pts, duration }));
    this.#append(data);
    packet.unref();
  }

  finish(): void {
    this.#append(formatRecord({ size: 0, isKey: false, pts: 0n, duration: 0n }));
  }

  close(): void {
    closeSync(this.#file);
  }

  #append(bytes: Buffer): void {
    this.#bytes += bytes.length;
    try {
      for (let at = 0; at < bytes.length; at += writeSync(this.#file, bytes, at));
    } catch (error) {
      rethrowAsStorageError(error);
    }
  }
}

/** The SPS and PPS. MP4 stores them once, and segments can be joined only if theirs are equal. */
export function encoderHeaders({ context }: Encoder): Buffer {
  return must(context.extraData, "the encoder's extradata");
}

interface PacketRecord {
  readonly size: number;
  readonly isKey: boolean;
  readonly pts: bigint;
  readonly duration: bigint;
}

export interface StoredPacket extends PacketRecord {
  /** The offset of the packet's data in the file. */
  readonly at: number;
}

export interface StoredSegment {
  readonly headers: Buffer;
  /** Packets in decoding order. */
  readonly packets: readonly StoredPacket[];
}

/** Reads a file of concatenated segments. Other workers wrote them, so everything is checked. */
export class SegmentReader {
  readonly #file: number;
  #at = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
  }

  /** Reads the index of the next segment, without its packet data. Returns `undefined` at the end of the file. */
  next(): StoredSegment | undefined {
    const head = this.#read(this.#at, HEAD_BYTES);
    if (head.length === 0) return undefined;
    if (head.length < HEAD_BYTES || !head.subarray(0, MAGIC.length).equals(MAGIC)) throw invalidFile();
    const headers = this.#readExactly(this.#at + HEAD_BYTES, head.readUInt32BE(MAGIC.length));
    this.#at += HEAD_BYTES + headers.length;
    const packets: StoredPacket[] = [];
    for (;;) {
      const { size, ...rest } = parseRecord(this.#readExactly(this.#at, RECORD_BYTES));
      this.#at += RECORD_BYTES;
      if (size === 0) return { headers, packets };
      packets.push({ size, ...rest, at: this.#at });
      this.#at += size;
    }
  }

  load({ at, size }: StoredPacket): Buffer {
    return this.#readExactly(at, size);
  }

  close(): void {
    closeSync(this.#file);
  }

  #readExactly(at: number, length: number): Buffer {
    const bytes = length <= MAX_READ_BYTES ? this.#read(at, length) : Buffer.alloc(0);
    if (bytes.length !== length) throw invalidFile();
    return bytes;
  }

  #read(at: number, length: number): Buffer {
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, readSync(this.#file, buffer, 0, length, at));
  }
}

function formatRecord({ size, isKey, pts, duration }: PacketRecord): Buffer {
  const bytes = Buffer.alloc(RECORD_BYTES);
  bytes.writeUInt32BE(size, 0);
  bytes.writeUInt8(isKey ? 1 : 0, 4);
  bytes.writeBigInt64BE(pts, 5);
  bytes.writeBigInt64BE(duration, 13);
  return bytes;
}

function parseRecord(bytes: Buffer): PacketRecord {
  return {
    size: bytes.readUInt32BE(0),
    isKey: bytes.readUInt8(4) === 1,
    pts: bytes.readBigInt64BE(5),
    duration: bytes.readBigInt64BE(13),
  };
}

function invalidFile(): Error {
  return new Error('segment file is truncated or invalid');
}
