// Writes the MP4, MOV or WebM: index first, so that playback can start during the download, and without metadata, dates or any other
// trace of the source except its video and audio.

import { AVERROR_INVALIDDATA, AVFMT_FLAG_BITEXACT } from 'node-av/constants';
import { FFmpegError, FormatContext, type Packet, PosixError, Rational, type Stream } from 'node-av/lib';
import { must } from '../../../shared/must.ts';
import { rethrowAsStorageError } from '../work-area.ts';
import type { Encoder } from './frames/encoder.ts';
import type { Ratio } from './frames/geometry.ts';
import { check } from './probe/check.ts';
import { undecodable } from './undecodable.ts';

export class MediaOutput {
  readonly #context = new FormatContext();
  readonly #tracks: Stream[] = [];
  #bytes = 0;
  #isOpen = false;

  constructor(path: string, format: 'mp4' | 'mov' | 'webm' = 'mp4') {
    check(this.#context.allocOutputContext2(null, format, `file:${path}`), 'create output');
    this.#context.setFlags(AVFMT_FLAG_BITEXACT);
    if (format !== 'webm') check(this.#context.setOption('movflags', '+faststart'), 'set faststart');
    check(this.#context.openOutputSync(), 'open output');
    this.#isOpen = true;
  }

  /** Total size of the packets written so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the index of the new track. */
  addEncodedTrack(encoder: Encoder): number {
    const stream = this.#context.newStream();
    check(stream.codecpar.fromContext(encoder.context), 'set track parameters');
    stream.timeBase = encoder.context.timeBase;
    return this.#tracks.push(stream) - 1;
  }

  addCopiedTrack(source: Stream): number {
    const stream = this.#context.newStream();
    check(source.codecpar.copy(stream.codecpar), 'copy track parameters');
    // Codec tags belong to a container format and can mean something else in MP4.
    stream.codecpar.codecTag = 0;
    stream.timeBase = new Rational(1, source.codecpar.sampleRate);
    return this.#tracks.push(stream) - 1;
  }

  writeHeader(): void {
    checkStorage(this.#context.writeHeaderSync(), 'write header');
  }

  /** Takes over the packet's data; the packet is empty afterwards. */
  write(packet: Packet, track: number, timeBase: Ratio): void {
    this.#bytes += packet.size;
    packet.streamIndex = track;
    packet.rescaleTs(timeBase, must(this.#tracks[track], 'the output track').timeBase);
    const result = this.#context.interleavedWriteFrameSync(packet);
    // Only copied audio can be invalid: its packets contradict its own header.
    if (result === AVERROR_INVALIDDATA) throw undecodable('its audio track is damaged');
    checkStorage(result, 'write packet');
  }

  finish(): void {
    checkStorage(this.#context.writeTrailerSync(), 'write index');
    this.close();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#context.closeOutputSync();
    this.#context.freeContext();
  }
}

/** Reports a full disk the same way as every other write does. */
function checkStorage(result: number, operation: string): void {
  if (result === NO_SPACE) rethrowAsStorageError(Object.assign(new Error(operation), { code: 'ENOSPC' }));
  check(result, operation);
}

const NO_SPACE: number = FFmpegError.AVERROR(PosixError.ENOSPC);
