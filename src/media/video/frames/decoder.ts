// One decoder, fed packet by packet. Errors in the data are counted, not thrown: a clip with a few bad packets plays
// everywhere and renders here.

import { AV_CODEC_FLAG_OUTPUT_CORRUPT, AVERROR_EOF } from 'node-av/constants';
import { CodecContext, type Frame, type Packet, type Stream } from 'node-av/lib';
import type { Size } from '../../../layout/geometry.ts';
import { AGAIN, check } from '../probe/check.ts';
import { findDecoder } from '../probe/codecs.ts';
import { undecodable } from '../undecodable.ts';

interface DecoderOptions {
  /** Frames larger than this are refused by the decoder itself, before it asks for memory. */
  readonly maxPixels: number;
  /** 0 = as many as the machine has cores. */
  readonly threads: number;
}

export class Decoder {
  readonly #context = new CodecContext();

  constructor(name: string, stream: Stream, { maxPixels, threads }: DecoderOptions) {
    const codec = findDecoder(name);
    if (codec === undefined) throw undecodable(`there is no decoder for ${name}`);
    this.#context.allocContext3(codec);
    this.#context.parametersToContext(stream.codecpar);
    this.#context.pktTimebase = stream.timeBase;
    this.#context.threadCount = threads;
    // What players show: a frame with a damaged corner, rather than a gap.
    this.#context.setFlags(AV_CODEC_FLAG_OUTPUT_CORRUPT);
    check(this.#context.setOption('max_pixels', maxPixels), 'limit pixels');
    const result = this.#context.open2Sync(codec);
    if (result < 0) {
      this.#context.freeContext();
      throw undecodable(`its ${name} stream cannot be opened`);
    }
  }

  /** What the bitstream says, known even when its frames are refused. */
  get size(): Size {
    return { width: this.#context.width, height: this.#context.height };
  }

  /** `null` asks for the frames still inside. A packet that is refused is passed over, as players do. */
  send(packet: Packet | null): void {
    this.#context.sendPacketSync(packet);
  }

  receive(frame: Frame): boolean {
    for (let repeats = 0; ; repeats += 1) {
      const result = this.#context.receiveFrameSync(frame);
      if (result >= 0) return true;
      if (result === AGAIN || result === AVERROR_EOF) return false;
      // A failed frame is consumed; the next call goes on behind it. Some decoders repeat the error, hence the bound.
      if (repeats === MAX_REPEATS) return false;
    }
  }

  free(): void {
    this.#context.freeContext();
  }
}

const MAX_REPEATS = 16;
