// Decodes the first packets of an audio track, to find out whether it produces audio. A track that can't be decoded
// here can't be played in most players either, so it isn't copied.

import { Frame, type Packet } from 'node-av/lib';
import { AppError } from '../../../../shared/errors.ts';
import { Decoder } from '../frames/decoder.ts';
import type { DecodableTrack } from '../probe/tracks.ts';

/** Several seconds of AAC, because the first packets can be silent preroll or damaged. */
const MAX_PACKETS = 200;

export class AudioTrial {
  readonly track: DecodableTrack;
  readonly #decoder: Decoder;
  readonly #frame = new Frame();
  #isDecodable = false;
  #packets = 0;

  private constructor(track: DecodableTrack, decoder: Decoder) {
    this.track = track;
    this.#decoder = decoder;
    this.#frame.alloc();
  }

  /** Returns undefined for a track with a damaged configuration. */
  static open(track: DecodableTrack): AudioTrial | undefined {
    try {
      return new AudioTrial(track, new Decoder(track.decoder, track.stream, { maxPixels: 1, threads: 1 }));
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }

  /** Flushes the decoder of a short track, which may still hold its only frame. */
  get isDecodable(): boolean {
    if (!this.#isDecodable && this.#packets < MAX_PACKETS) {
      this.#decoder.send(null);
      this.#receive();
    }
    return this.#isDecodable;
  }

  send(packet: Packet): void {
    if (this.#isDecodable || this.#packets >= MAX_PACKETS) return;
    this.#packets += 1;
    this.#decoder.send(packet);
    this.#receive();
  }

  free(): void {
    this.#frame.free();
    this.#decoder.free();
  }

  #receive(): void {
    this.#isDecodable = this.#decoder.receive(this.#frame);
    if (this.#isDecodable) this.#frame.unref();
  }
}
