// The sound track on its way from one file to the other: packets copied as they are, or decoded, brought into a shape
// AAC takes, and encoded.

import { AV_NOPTS_VALUE, AV_PKT_FLAG_DISCARD } from 'node-av/constants';
import type { Packet, Stream } from 'node-av/lib';
import type { AudioSource } from './source.ts';
import type { Mp4Output } from '../output.ts';
import { EncodedAudioTrack } from './encoder.ts';

export interface AudioTrack {
  take(packet: Packet): void;
  finish(): void;
  free(): void;
}

/** `offset` in seconds is taken off every timestamp, for picture and sound alike. */
export function openAudioTrack(source: AudioSource, stream: Stream, output: Mp4Output, offset: number): AudioTrack {
  return source.action === 'copy'
    ? new CopiedAudioTrack(stream, output, offset)
    : new EncodedAudioTrack(source, stream, output, offset);
}

class CopiedAudioTrack implements AudioTrack {
  readonly #source: Stream;
  readonly #track: number;
  readonly #output: Mp4Output;
  readonly #offset: bigint;
  #next = AV_NOPTS_VALUE as bigint;

  constructor(source: Stream, output: Mp4Output, offset: number) {
    this.#source = source;
    this.#output = output;
    this.#track = output.addCopiedTrack(source);
    this.#offset = toTicks(offset, source);
  }

  take(packet: Packet): void {
    const stamp = packet.dts === AV_NOPTS_VALUE ? packet.pts : packet.dts;
    if (stamp === AV_NOPTS_VALUE) return;
    // Packets that the edit list hides: before the beginning they stay, because a decoder needs them to start up and
    // their negative timestamps keep them silent. Anywhere else they would be heard.
    const hidden = packet.hasFlags(AV_PKT_FLAG_DISCARD) && stamp >= this.#offset;
    const repeated = this.#next !== AV_NOPTS_VALUE && stamp < this.#next;
    if (hidden || (repeated && stamp + packet.duration <= this.#next)) return;
    this.#next = stamp + (packet.duration > 0n ? packet.duration : 1n);
    packet.pts = stamp - this.#offset;
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
