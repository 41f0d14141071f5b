// The audio track of the output. Its packets are either copied unchanged or decoded and encoded as AAC.

import { AV_NOPTS_VALUE, AV_PKT_FLAG_DISCARD } from 'node-av/constants';
import type { Packet, Stream } from 'node-av/lib';
import type { MediaOutput } from '../output.ts';
import { EncodedAudioTrack } from './encoder.ts';
import type { AudioSource } from '../../probe-schema.ts';
import type { AudioTrack } from './track.ts';

/** Opens the audio track. Subtracts `offset` seconds from every timestamp, as for the video track. */
export function openAudioTrack(source: AudioSource, stream: Stream, output: MediaOutput, offset: number): AudioTrack {
  return source.action === 'copy'
    ? new CopiedAudioTrack(stream, output, offset)
    : new EncodedAudioTrack(source, stream, output, offset);
}

class CopiedAudioTrack implements AudioTrack {
  readonly #source: Stream;
  readonly #track: number;
  readonly #output: MediaOutput;
  readonly #offset: bigint;
  #nextTimestamp = AV_NOPTS_VALUE as bigint;

  constructor(source: Stream, output: MediaOutput, offset: number) {
    this.#source = source;
    this.#output = output;
    this.#track = output.addCopiedTrack(source);
    this.#offset = toTicks(offset, source);
  }

  process(packet: Packet): void {
    const timestamp = packet.dts === AV_NOPTS_VALUE ? packet.pts : packet.dts;
    if (timestamp === AV_NOPTS_VALUE) return;
    // The edit list hides these packets. Before the start they are kept: a decoder needs them as preroll, and their
    // negative timestamps keep them silent. Anywhere else they would be audible.
    const isHidden = packet.hasFlags(AV_PKT_FLAG_DISCARD) && timestamp >= this.#offset;
    const isRepeated = this.#nextTimestamp !== AV_NOPTS_VALUE && timestamp < this.#nextTimestamp;
    if (isHidden || (isRepeated && timestamp + packet.duration <= this.#nextTimestamp)) return;
    this.#nextTimestamp = timestamp + (packet.duration > 0n ? packet.duration : 1n);
    packet.pts = timestamp - this.#offset;
    packet.dts = packet.pts;
    packet.freeSideData();
    this.#output.write(packet, this.#track, this.#source.timeBase);
  }

  finish(): void {}

  free(): void {}
}

function toTicks(seconds: number, { timeBase }: Stream): bigint {
  return BigInt(Math.round((seconds * timeBase.den) / timeBase.num));
}
