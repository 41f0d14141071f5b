// Wraps one decoder. Errors in the data are skipped rather than thrown: a clip with a few bad packets plays everywhere
// and should render here too.

import { AV_CODEC_FLAG_OUTPUT_CORRUPT, AVERROR_EOF } from 'node-av/constants';
import { CodecContext, type Frame, type Packet, type Stream } from 'node-av/lib';
import type { Size } from '../../../layout/geometry.ts';
import { AGAIN, check } from '../probe/check.ts';
import { findDecoder } from '../probe/codecs.ts';
import { CONVERT_TO_H264, undecodable } from '../undecodable.ts';

interface DecoderOptions {
  /** The decoder itself rejects larger frames before it allocates memory for them. */
  readonly maxPixels: number;
  /** 0 means one thread per core. */
  readonly threads: number;
}

/** Some decoders repeat the same error forever. */
const MAX_CONSECUTIVE_ERRORS = 16;

export class Decoder {
  readonly #context = new CodecContext();

  constructor(name: string, stream: Stream, { maxPixels, threads }: DecoderOptions) {
    const codec = findDecoder(name);
    if (codec === undefined) throw undecodable(`the ${name} decoder isn't available`, CONVERT_TO_H264);
    this.#context.allocContext3(codec);
    this.#context.parametersToContext(stream.codecpar);
    this.#context.pktTimebase = stream.timeBase;
    this.#context.threadCount = threads;
    // Like players, show a frame with a damaged area rather than none.
    this.#context.setFlags(AV_CODEC_FLAG_OUTPUT_CORRUPT);
    check(this.#context.setOption('max_pixels', maxPixels), 'set max_pixels');
    const result = this.#context.open2Sync(codec);
    if (result < 0) {
      this.#context.freeContext();
      throw undecodable(`its ${name} stream is damaged`);
    }
  }

  /** The size in the bitstream, which is known even when the decoder rejects the frames. */
  get size(): Size {
    return { width: this.#context.width, height: this.#context.height };
  }

  /** `null` flushes the decoder. Like players, skips a packet that the decoder rejects. */
  send(packet: Packet | null): void {
    this.#context.sendPacketSync(packet);
  }

  receive(frame: Frame): boolean {
    for (let errors = 0; ; errors += 1) {
      const result = this.#context.receiveFrameSync(frame);
      if (result >= 0) return true;
      if (result === AGAIN || result === AVERROR_EOF) return false;
      // The decoder drops a failed frame, so the next call returns the frame after it.
      if (errors === MAX_CONSECUTIVE_ERRORS) return false;
    }
  }

  /** Forgets all frames, so that the next packet can be from anywhere in the video. */
  restart(): void {
    this.#context.flushBuffers();
  }

  free(): void {
    this.#context.freeContext();
  }
}
