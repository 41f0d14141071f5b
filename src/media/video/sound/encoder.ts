// Decodes audio that MP4 players don't support and encodes it as AAC. Unusual channel layouts become stereo. Gaps
// between timestamps become silence, so that audio and video stay in sync.

import { AV_BUFFERSRC_FLAG_PUSH, AV_NOPTS_VALUE, AV_SAMPLE_FMT_FLTP, AVERROR_EOF } from 'node-av/constants';
import {
  avChannelLayoutDefault,
  avChannelLayoutDescribe,
  avGetSampleFmtName,
  avRescaleQ,
  Filter,
  type FilterContext,
  FilterGraph,
  Frame,
  Packet,
  Rational,
  type Stream,
} from 'node-av/lib';
import { must } from '../../../primitives/must.ts';
import { Decoder } from '../frames/decoder.ts';
import { Encoder, openEncoderContext } from '../frames/encoder.ts';
import type { Ratio } from '../frames/geometry.ts';
import type { MediaOutput } from '../output.ts';
import { AGAIN, check } from '../probe/check.ts';
import { undecodable } from '../undecodable.ts';
import { type AacFormat, aacFormat } from './aac.ts';
import type { AudioSource } from './source.ts';
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
    this.#graph ??= new AudioFilterGraph(this.#decoded, this.#sourceTimeBase, this.#format);
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

class AudioFilterGraph {
  readonly #graph = new FilterGraph();
  readonly #source: FilterContext;
  readonly #sink: FilterContext;
  readonly #inputFormat: string;

  constructor(frame: Frame, timeBase: Ratio, { sampleRate, channels }: AacFormat) {
    this.#inputFormat = formatOf(frame);
    this.#graph.alloc();
    this.#source = this.#add('abuffer', `${this.#inputFormat}:time_base=${timeBase.num}/${timeBase.den}`);
    const layout = must(avChannelLayoutDescribe(avChannelLayoutDefault(channels)), 'the default channel layout');
    const format = this.#add('aformat', `sample_fmts=fltp:sample_rates=${sampleRate}:channel_layouts=${layout}`);
    const fillGaps = this.#add('aresample', 'async=1');
    const split = this.#add('asetnsamples', `n=${SAMPLES_PER_FRAME}:p=0`);
    this.#sink = this.#add('abuffersink', null);
    const chain = [this.#source, fillGaps, format, split, this.#sink];
    for (const [index, filter] of chain.entries()) {
      const next = chain[index + 1];
      if (next !== undefined) check(filter.link(0, next, 0), 'link audio filters');
    }
    if (this.#graph.configSync() < 0) {
      this.#graph.free();
      throw undecodable("its audio can't be converted");
    }
  }

  get timeBase(): Rational {
    return this.#sink.buffersinkGetTimeBase();
  }

  accepts(frame: Frame): boolean {
    return formatOf(frame) === this.#inputFormat;
  }

  push(frame: Frame): void {
    check(this.#source.buffersrcAddFrameSync(frame, AV_BUFFERSRC_FLAG_PUSH), 'filter audio');
  }

  finish(): void {
    check(this.#source.buffersrcAddFrameSync(null), 'flush audio filters');
  }

  pull(frame: Frame): boolean {
    const result = this.#sink.buffersinkGetFrameSync(frame);
    if (result === AGAIN || result === AVERROR_EOF) return false;
    check(result, 'receive filtered audio');
    return true;
  }

  free(): void {
    this.#graph.free();
  }

  #add(name: string, args: string | null): FilterContext {
    const filter = Filter.getByName(name);
    const context = filter === null ? null : this.#graph.createFilter(filter, name, args);
    if (context === null) throw new Error(`cannot create filter ${name} (${args ?? ''})`);
    return context;
  }
}

/** Returns the arguments of the `abuffer` filter for frames of this format. */
function formatOf(frame: Frame): string {
  const format = avGetSampleFmtName(frame.format as Parameters<typeof avGetSampleFmtName>[0]);
  const layout = avChannelLayoutDescribe(frame.channelLayout);
  if (format === null || layout === null) throw undecodable('its audio format is unknown');
  return `sample_rate=${frame.sampleRate}:sample_fmt=${format}:channel_layout=${layout}`;
}
