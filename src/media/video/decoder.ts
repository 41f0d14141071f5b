// One decoder, fed packet by packet. Errors in the data are counted, not thrown: a clip with a few bad packets plays
// everywhere and renders here.

import { AV_CODEC_FLAG_OUTPUT_CORRUPT, AVERROR_EOF } from 'node-av/constants';
import { CodecContext, type Frame, type Packet, type Stream } from 'node-av/lib';
import type { Size } from '../../layout/geometry.ts';
import { AGAIN, check } from './check.ts';
import { findDecoder } from './codecs.ts';
import { undecodable } from './undecodable.ts';

interface DecoderOptions {
  /** Frames larger than this are refused by the decoder itself, before it asks for memory. */
  readonly maxPixels: number;
  /** 0 = as many as the machine has cores. */
  readonly threads: number;
}

export class Decoder {
  readonly #context = new CodecContext();
  #failures = 0;

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

  /** `null` asks for the frames still inside. */
  send(packet: Packet | null): void {
    const result = this.#context.sendPacketSync(packet);
    if (result < 0 && result !== AVERROR_EOF) this.#failures += 1;
  }

  receive(frame: Frame): boolean {
    for (;;) {
      const result = this.#context.receiveFrameSync(frame);
      if (result >= 0) return true;
      if (result === AGAIN || result === AVERROR_EOF) return false;
      // A failed frame is consumed; the next call goes on behind it. Some decoders repeat the error, hence the bound.
      this.#failures += 1;
      if (this.#failures % MAX_REPEATS === 0) return false;
    }
  }

  free(): void {
    this.#context.freeContext();
  }
}

const MAX_REPEATS = 16;
