// The encoded picture of one segment on its way to whoever joins them: every packet with its time, exactly, and nothing that
// a demuxer would have to make sense of. Files can be laid end to end.

import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { Packet } from 'node-av/lib';
import { rethrowAsStorageError } from '../../work-area.ts';
import type { Encoder } from '../frames/encoder.ts';
import type { PacketSink } from '../output.ts';

const MAGIC = Buffer.from('SBARSEG1', 'latin1');
/** Magic, then how long the encoder's headers are that follow. */
const HEAD_BYTES = MAGIC.length + 4;
/** Size, keyframe or not, time, duration. A size of zero ends the segment. */
const RECORD_BYTES = 4 + 1 + 8 + 8;

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

  addEncodedTrack({ context }: Encoder): number {
    const headers = context.extraData ?? Buffer.alloc(0);
    const head = Buffer.alloc(HEAD_BYTES);
    MAGIC.copy(head);
    head.writeUInt32BE(headers.length, MAGIC.length);
    this.#put(Buffer.concat([head, headers]));
    return 0;
  }

  /** In the encoder's own time base; whoever joins has the same. */
  write(packet: Packet): void {
    const { data, size, pts, duration, isKeyframe } = packet;
    if (data === null || size === 0) throw new Error('the encoder made an empty packet');
    this.#packets += 1;
    this.#put(record({ size, isKey: isKeyframe, pts, duration }));
    this.#put(data);
    packet.unref();
  }

  finish(): void {
    this.#put(record({ size: 0, isKey: false, pts: 0n, duration: 0n }));
  }

  close(): void {
    closeSync(this.#file);
  }

  #put(bytes: Buffer): void {
    this.#bytes += bytes.length;
    try {
      for (let at = 0; at < bytes.length; at += writeSync(this.#file, bytes, at));
    } catch (error) {
      rethrowAsStorageError(error);
    }
  }
}

interface PacketRecord {
  readonly size: number;
  readonly isKey: boolean;
  readonly pts: bigint;
  readonly duration: bigint;
}

/** A packet that lies at a place of the file. */
export interface StoredPacket extends PacketRecord {
  readonly at: number;
}

export interface StoredSegment {
  /** The encoder's headers. */
  readonly headers: Buffer;
  /** In the order they were encoded. */
  readonly packets: readonly StoredPacket[];
}

/** Segments end to end in one file. Made by other workers, so nothing in it is taken for granted. */
export class SegmentReader {
  readonly #file: number;
  #at = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
  }

  /** The next segment's index; its packets are not read yet. `undefined` at the end of the file. */
  next(): StoredSegment | undefined {
    const head = this.#read(this.#at, HEAD_BYTES);
    if (head.length === 0) return undefined;
    if (head.length < HEAD_BYTES || !head.subarray(0, MAGIC.length).equals(MAGIC)) throw broken();
    const headers = this.#exactly(this.#at + HEAD_BYTES, head.readUInt32BE(MAGIC.length));
    this.#at += HEAD_BYTES + headers.length;
    const packets: StoredPacket[] = [];
    for (;;) {
      const { size, ...rest } = parseRecord(this.#exactly(this.#at, RECORD_BYTES));
      this.#at += RECORD_BYTES;
      if (size === 0) return { headers, packets };
      packets.push({ size, ...rest, at: this.#at });
      this.#at += size;
    }
  }

  load({ at, size }: StoredPacket): Buffer {
    return this.#exactly(at, size);
  }

  close(): void {
    closeSync(this.#file);
  }

  #exactly(at: number, length: number): Buffer {
    const bytes = length <= MAX_READ_BYTES ? this.#read(at, length) : Buffer.alloc(0);
    if (bytes.length !== length) throw broken();
    return bytes;
  }

  #read(at: number, length: number): Buffer {
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, readSync(this.#file, buffer, 0, length, at));
  }
}

/** No frame of ours comes near it. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

function record({ size, isKey, pts, duration }: PacketRecord): Buffer {
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

function broken(): Error {
  return new Error('a segment is not whole');
}
