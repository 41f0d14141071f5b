// Decodes audio that MP4 players don't support and encodes it as AAC. Unusual channel layouts become stereo. Gaps
// between timestamps become silence, so that audio and video stay in sync.

import { AV_NOPTS_VALUE, AV_SAMPLE_FMT_FLTP } from 'node-av/constants';
import { avChannelLayoutDefault, avRescaleQ, Frame, Packet, Rational, type Stream } from 'node-av/lib';
import { Decoder } from '../frames/decoder.ts';
import { Encoder, openEncoderContext } from '../frames/encoder.ts';
import type { Ratio } from '../frames/geometry.ts';
import type { MediaOutput } from '../output.ts';
import { type AacFormat, aacFormat } from './aac.ts';
import { AudioFilterGraph } from './filter-graph.ts';
import type { AudioSource } from '../../probe-schema.ts';
import type { AudioTrack } from './track.ts';

/** The frame size of AAC. */
const SAMPLES_PER_FRAME = 1_024;

export class EncodedAudioTrack implements AudioTrack {
  readonly #decoder: Decoder;
  readonly #encoder: Encoder;
  readonly #track: number;
  readonly #output: MediaOutput;
  readonly #format: AacFormat;
  readonly #outputTimeBase: Rational;
  readonly #sourceTimeBase: Ratio;
  readonly #offset: bigint;
  readonly #decoded = new Frame();
  readonly #filtered = new Frame();
  readonly #packet = new Packet();
  #graph: AudioFilterGraph | undefined;

  constructor(source: AudioSource, stream: Stream, output: MediaOutput, offset: number) {
    this.#output = output;
    this.#sourceTimeBase = stream.timeBase;
    this.#format = aacFormat(source);
    this.#outputTimeBase = new Rational(1, this.#format.sampleRate);
    this.#offset = BigInt(Math.round(offset * this.#format.sampleRate));
    this.#decoder = new Decoder(source.decoder, stream, { maxPixels: 1, threads: 1 });
    this.#encoder = new Encoder(
      openEncoderContext('aac', (context) => {
        context.sampleFormat = AV_SAMPLE_FMT_FLTP;
        context.sampleRate = this.#format.sampleRate;
        context.channelLayout = avChannelLayoutDefault(this.#format.channels);
        context.bitRate = BigInt(this.#format.bitRate);
        context.timeBase = this.#outputTimeBase;
      }),
    );
    this.#track = output.addEncodedTrack(this.#encoder);
    for (const buffer of [this.#decoded, this.#filtered, this.#packet]) buffer.alloc();
  }

  /** `null` flushes the decoder. */
  process(packet: Packet | null): void {
    this.#decoder.send(packet);
    while (this.#decoder.receive(this.#decoded)) this.#filter();
  }

  finish(): void {
    this.process(null);
    this.#graph?.finish();
    this.#encodeFiltered();
    this.#encoder.send(null);
    this.#writePackets();
  }

  free(): void {
    this.#graph?.free();
    this.#decoder.free();
    this.#encoder.free();
    for (const buffer of [this.#decoded, this.#filtered, this.#packet]) buffer.free();
  }

  #filter(): void {
    // Some tracks change their sample rate or layout midway. A filter graph accepts only one format, so it is rebuilt.
    if (this.#graph !== undefined && !this.#graph.accepts(this.#decoded)) {
      this.#graph.finish();
      this.#encodeFiltered();
      this.#graph.free();
      this.#graph = undefined;
    }
    this.#graph ??= new AudioFilterGraph(this.#decoded, this.#sourceTimeBase, {
      ...this.#format,
      sampleFormat: 'fltp',
      frameSamples: SAMPLES_PER_FRAME,
    });
    this.#graph.push(this.#decoded);
    this.#encodeFiltered();
  }

  #encodeFiltered(): void {
    while (this.#graph?.pull(this.#filtered) === true) {
      if (this.#filtered.pts !== AV_NOPTS_VALUE) {
        this.#filtered.pts = avRescaleQ(this.#filtered.pts, this.#graph.timeBase, this.#outputTimeBase) - this.#offset;
      }
      this.#encoder.send(this.#filtered);
      this.#filtered.unref();
      this.#writePackets();
    }
  }

  #writePackets(): void {
    while (this.#encoder.receive(this.#packet)) this.#output.write(this.#packet, this.#track, this.#outputTimeBase);
  }
}
