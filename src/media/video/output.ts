// The MP4 being written: index first, so that it plays while it downloads; no metadata, no dates, no trace of the source
// but picture and sound.

import { AVERROR_INVALIDDATA, AVFMT_FLAG_BITEXACT } from 'node-av/constants';
import { FFmpegError, FormatContext, type Packet, PosixError, Rational, type Stream } from 'node-av/lib';
import { rethrowAsStorageError } from '../work-area.ts';
import { check } from './probe/check.ts';
import type { Encoder } from './frames/encoder.ts';
import type { Ratio } from './frames/geometry.ts';
import { undecodable } from './undecodable.ts';

/** Where the packets of an encoder go. */
export interface PacketSink {
  /** Returns the number of the track. */
  addEncodedTrack(encoder: Encoder): number;
  /** Takes the packet's reference. */
  write(packet: Packet, track: number, timeBase: Ratio): void;
}

export class Mp4Output implements PacketSink {
  readonly #context = new FormatContext();
  readonly #tracks: Stream[] = [];
  #bytes = 0;
  #open = false;

  constructor(path: string) {
    check(this.#context.allocOutputContext2(null, 'mp4', `file:${path}`), 'create output');
    this.#context.setFlags(AVFMT_FLAG_BITEXACT);
    check(this.#context.setOption('movflags', '+faststart'), 'put the index first');
    check(this.#context.openOutputSync(), 'open output');
    this.#open = true;
  }

  /** Bytes of packets so far. */
  get bytes(): number {
    return this.#bytes;
  }

  addEncodedTrack(encoder: Encoder): number {
    const stream = this.#context.newStream();
    check(stream.codecpar.fromContext(encoder.context), 'describe track');
    stream.timeBase = encoder.context.timeBase;
    return this.#tracks.push(stream) - 1;
  }

  addCopiedTrack(source: Stream): number {
    const stream = this.#context.newStream();
    check(source.codecpar.copy(stream.codecpar), 'describe track');
    // The tag of one container means nothing, or something else, in another.
    stream.codecpar.codecTag = 0;
    stream.timeBase = new Rational(1, source.codecpar.sampleRate);
    return this.#tracks.push(stream) - 1;
  }

  begin(): void {
    checkStorage(this.#context.writeHeaderSync(), 'write header');
  }

  write(packet: Packet, track: number, timeBase: Ratio): void {
    this.#bytes += packet.size;
    packet.streamIndex = track;
    packet.rescaleTs(timeBase, this.#tracks[track]?.timeBase ?? timeBase);
    const result = this.#context.interleavedWriteFrameSync(packet);
    // Copied from the asset: sound that says one thing in its head and another in its packets.
    if (result === AVERROR_INVALIDDATA) throw undecodable('its sound is damaged');
    checkStorage(result, 'write packet');
  }

  finish(): void {
    checkStorage(this.#context.writeTrailerSync(), 'write index');
    this.close();
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#context.closeOutputSync();
    this.#context.freeContext();
  }
}

/** A full disk is nobody's fault here; it is told like any other full disk. */
function checkStorage(result: number, doing: string): void {
  if (result === NO_SPACE) rethrowAsStorageError(Object.assign(new Error(doing), { code: 'ENOSPC' }));
  check(result, doing);
}

const NO_SPACE: number = FFmpegError.AVERROR(PosixError.ENOSPC);
