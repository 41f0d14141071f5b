// Sound that MP4 players do not take, made into AAC. Layouts beyond 5.1 become stereo; gaps in the timestamps become
// silence, so that sound and picture stay together.

import { AV_BUFFERSRC_FLAG_PUSH, AV_NOPTS_VALUE, AVERROR_EOF, AV_SAMPLE_FMT_FLTP } from 'node-av/constants';
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
import { aacFormat, type AacFormat } from './aac.ts';
import type { AudioSource } from './source.ts';
import { AGAIN, check } from '../probe/check.ts';
import { Decoder } from '../frames/decoder.ts';
import { Encoder, openEncoderContext } from '../frames/encoder.ts';
import type { Ratio } from '../frames/geometry.ts';
import type { Mp4Output } from '../output.ts';
import type { AudioTrack } from './sound.ts';
import { undecodable } from '../undecodable.ts';

const FRAME_SAMPLES = 1_024;

export class EncodedAudioTrack implements AudioTrack {
  readonly #decoder: Decoder;
  readonly #encoder: Encoder;
  readonly #track: number;
  readonly #output: Mp4Output;
  readonly #shape: AacFormat;
  readonly #sampleTime: Rational;
  readonly #timeBase: Ratio;
  readonly #offset: bigint;
  readonly #decoded = new Frame();
  readonly #shaped = new Frame();
  readonly #packet = new Packet();
  #graph: AudioFilterGraph | undefined;

  constructor(source: AudioSource, stream: Stream, output: Mp4Output, offset: number) {
    this.#output = output;
    this.#timeBase = stream.timeBase;
    this.#shape = aacFormat(source);
    this.#sampleTime = new Rational(1, this.#shape.sampleRate);
    this.#offset = BigInt(Math.round(offset * this.#shape.sampleRate));
    this.#decoder = new Decoder(source.decoder, stream, { maxPixels: 1, threads: 1 });
    this.#encoder = new Encoder(
      openEncoderContext('aac', (draft) => {
        draft.sampleFormat = AV_SAMPLE_FMT_FLTP;
        draft.sampleRate = this.#shape.sampleRate;
        draft.channelLayout = avChannelLayoutDefault(this.#shape.channels);
        draft.bitRate = BigInt(this.#shape.bitRate);
        draft.timeBase = this.#sampleTime;
      }),
    );
    this.#track = output.addEncodedTrack(this.#encoder);
    for (const holder of [this.#decoded, this.#shaped, this.#packet]) holder.alloc();
  }

  take(packet: Packet | null): void {
    this.#decoder.send(packet);
    while (this.#decoder.receive(this.#decoded)) this.#shapeFrame();
  }

  finish(): void {
    this.take(null);
    this.#graph?.finish();
    this.#encodeShaped();
    this.#encoder.send(null);
    this.#writePackets();
  }

  free(): void {
    this.#graph?.free();
    this.#decoder.free();
    this.#encoder.free();
    for (const holder of [this.#decoded, this.#shaped, this.#packet]) holder.free();
  }

  #shapeFrame(): void {
    // Some tracks change rate or layout on the way; the filters are built for one.
    if (this.#graph !== undefined && !this.#graph.takes(this.#decoded)) {
      this.#graph.finish();
      this.#encodeShaped();
      this.#graph.free();
      this.#graph = undefined;
    }
    this.#graph ??= new AudioFilterGraph(this.#decoded, this.#timeBase, this.#shape);
    this.#graph.push(this.#decoded);
    this.#encodeShaped();
  }

  #encodeShaped(): void {
    while (this.#graph?.pull(this.#shaped) === true) {
      if (this.#shaped.pts !== AV_NOPTS_VALUE) {
        this.#shaped.pts = avRescaleQ(this.#shaped.pts, this.#graph.timeBase, this.#sampleTime) - this.#offset;
      }
      this.#encoder.send(this.#shaped);
      this.#shaped.unref();
      this.#writePackets();
    }
  }

  #writePackets(): void {
    while (this.#encoder.receive(this.#packet)) this.#output.write(this.#packet, this.#track, this.#sampleTime);
  }
}

class AudioFilterGraph {
  readonly #graph = new FilterGraph();
  readonly #source: FilterContext;
  readonly #sink: FilterContext;
  readonly #key: string;

  constructor(frame: Frame, timeBase: Ratio, { sampleRate, channels }: AacFormat) {
    this.#graph.alloc();
    this.#key = describe(frame);
    this.#source = this.#add('abuffer', `${this.#key}:time_base=${timeBase.num}/${timeBase.den}`);
    const layout = avChannelLayoutDescribe(avChannelLayoutDefault(channels));
    const shape = this.#add(
      'aformat',
      `sample_fmts=fltp:sample_rates=${sampleRate}:channel_layouts=${layout ?? 'stereo'}`,
    );
    const steady = this.#add('aresample', 'async=1');
    const cut = this.#add('asetnsamples', `n=${FRAME_SAMPLES}:p=0`);
    this.#sink = this.#add('abuffersink', null);
    const chain = [this.#source, steady, shape, cut, this.#sink];
    for (const [index, filter] of chain.entries()) {
      const next = chain[index + 1];
      if (next !== undefined) check(filter.link(0, next, 0), 'link sound filters');
    }
    if (this.#graph.configSync() < 0) {
      this.#graph.free();
      throw undecodable('its sound cannot be converted');
    }
  }

  get timeBase(): Rational {
    return this.#sink.buffersinkGetTimeBase();
  }

  takes(frame: Frame): boolean {
    return describe(frame) === this.#key;
  }

  push(frame: Frame): void {
    check(this.#source.buffersrcAddFrameSync(frame, AV_BUFFERSRC_FLAG_PUSH), 'filter sound');
  }

  finish(): void {
    check(this.#source.buffersrcAddFrameSync(null), 'finish sound filters');
  }

  pull(frame: Frame): boolean {
    const result = this.#sink.buffersinkGetFrameSync(frame);
    if (result === AGAIN || result === AVERROR_EOF) return false;
    check(result, 'take filtered sound');
    return true;
  }

  free(): void {
    this.#graph.free();
  }

  #add(filter: string, args: string | null): FilterContext {
    const kind = Filter.getByName(filter);
    const context = kind === null ? null : this.#graph.createFilter(kind, filter, args);
    if (context === null) throw new Error(`cannot create filter ${filter} (${args ?? ''})`);
    return context;
  }
}

function describe(frame: Frame): string {
  const format = avGetSampleFmtName(frame.format as Parameters<typeof avGetSampleFmtName>[0]);
  const layout = avChannelLayoutDescribe(frame.channelLayout);
  return `sample_rate=${frame.sampleRate}:sample_fmt=${format ?? 'fltp'}:channel_layout=${layout ?? 'stereo'}`;
}
