// The MP4 being written: index first, so that it plays while it downloads; no metadata, no dates, no trace of the source
// but picture and sound.

import { AVFMT_FLAG_BITEXACT } from 'node-av/constants';
import { FormatContext, type Packet, Rational, type Stream } from 'node-av/lib';
import { check } from './check.ts';
import type { Encoder } from './encoder.ts';
import type { Ratio } from './geometry.ts';

export class Output {
  readonly #context = new FormatContext();
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

  addEncoded(encoder: Encoder): Stream {
    const stream = this.#context.newStream();
    check(stream.codecpar.fromContext(encoder.context), 'describe track');
    stream.timeBase = encoder.context.timeBase;
    return stream;
  }

  addCopied(source: Stream): Stream {
    const stream = this.#context.newStream();
    check(source.codecpar.copy(stream.codecpar), 'describe track');
    // The tag of one container means nothing, or something else, in another.
    stream.codecpar.codecTag = 0;
    stream.timeBase = new Rational(1, source.codecpar.sampleRate);
    return stream;
  }

  begin(): void {
    check(this.#context.writeHeaderSync(), 'write header');
  }

  /** Takes the packet's reference. */
  write(packet: Packet, stream: Stream, timeBase: Ratio): void {
    this.#bytes += packet.size;
    packet.streamIndex = stream.index;
    packet.rescaleTs(timeBase, stream.timeBase);
    check(this.#context.interleavedWriteFrameSync(packet), 'write packet');
  }

  finish(): void {
    check(this.#context.writeTrailerSync(), 'write index');
    this.close();
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#context.closeOutputSync();
    this.#context.freeContext();
  }
}
