// The largest size of the frames of a video, which can change: a browser call starts small and grows with the bandwidth.
// A change needs a keyframe, except in VP9, so only keyframes are decoded, and not all of those that are close together.

import { AV_NOPTS_VALUE, AV_PKT_DATA_NEW_EXTRADATA } from 'node-av/constants';
import { Frame, type Packet, type Stream } from 'node-av/lib';
import type { Size } from '../../../layout/geometry.ts';
import { Decoder } from '../frames/decoder.ts';
import { decoderPixels } from '../dimensions.ts';
import type { DecodableTrack } from './tracks.ts';
import { vp9FrameSize } from './vp9-frame-size.ts';

/** In formats with only keyframes, decoding all of them would take as long as a render. */
const MIN_SPACING_SECONDS = 1;

export class LargestFrame {
  readonly #maxSide: number;
  readonly #sizes: FrameSizes;
  #largest: Size | undefined;

  constructor(track: DecodableTrack, maxSide: number) {
    this.#maxSide = maxSide;
    this.#sizes = track.codec === 'vp9' ? new Vp9Headers() : new DecodedKeyframes(track, maxSide);
  }

  add(packet: Packet): void {
    const size = this.#sizes.sizeOf(packet);
    if (size === undefined || Math.max(size.width, size.height) > this.#maxSide) return;
    if (this.#largest === undefined || areaOf(size) > areaOf(this.#largest)) this.#largest = size;
  }

  /** Returns the size of the first frame unless a later one is larger. */
  orFirst(first: Size): Size {
    return this.#largest !== undefined && areaOf(this.#largest) > areaOf(first) ? this.#largest : first;
  }

  free(): void {
    this.#sizes.free();
  }
}

function areaOf({ width, height }: Size): number {
  return width * height;
}

interface FrameSizes {
  /** Returns undefined for a frame whose size isn't known or as before. */
  sizeOf(packet: Packet): Size | undefined;
  free(): void;
}

class Vp9Headers implements FrameSizes {
  sizeOf({ data }: Packet): Size | undefined {
    return data === null ? undefined : vp9FrameSize(data);
  }

  free(): void {}
}

class DecodedKeyframes implements FrameSizes {
  readonly #decoder: Decoder;
  readonly #frame = new Frame();
  readonly #spacing: number;
  #last: number | undefined;

  constructor({ stream, decoder }: DecodableTrack, maxSide: number) {
    this.#decoder = new Decoder(decoder, stream, { maxPixels: decoderPixels(maxSide), threads: 1 });
    this.#spacing = ticksOf(MIN_SPACING_SECONDS, stream);
    this.#frame.alloc();
  }

  sizeOf(packet: Packet): Size | undefined {
    if (!packet.isKeyframe) return undefined;
    const time = Number(packet.pts === AV_NOPTS_VALUE ? packet.dts : packet.pts);
    const isClose = this.#last !== undefined && Math.abs(time - this.#last) < this.#spacing;
    // All later frames depend on new parameters, which only this packet has.
    if (isClose && packet.getSideData(AV_PKT_DATA_NEW_EXTRADATA) === null) return undefined;
    this.#last = time;
    this.#decoder.send(packet);
    this.#decoder.send(null);
    const size = this.#decoder.receive(this.#frame)
      ? { width: this.#frame.width, height: this.#frame.height }
      : undefined;
    this.#frame.unref();
    this.#decoder.restart();
    return size;
  }

  free(): void {
    this.#frame.free();
    this.#decoder.free();
  }
}

function ticksOf(seconds: number, { timeBase }: Stream): number {
  return (seconds * timeBase.den) / timeBase.num;
}
