// Converts decoded audio to one format. Gaps between timestamps become silence, so that audio and video stay in sync.

import { AV_BUFFERSRC_FLAG_PUSH, AVERROR_EOF } from 'node-av/constants';
import {
  avChannelLayoutDefault,
  avChannelLayoutDescribe,
  avGetSampleFmtName,
  Filter,
  type FilterContext,
  FilterGraph,
  type Frame,
  type Rational,
} from 'node-av/lib';
import { must } from '../../../../shared/must.ts';
import type { Ratio } from '../frames/geometry.ts';
import { AGAIN, check } from '../probe/check.ts';
import { undecodable } from '../undecodable.ts';

/** The format that frames are converted to. */
export interface AudioFormat {
  readonly sampleRate: number;
  readonly channels: number;
  readonly sampleFormat: 'fltp' | 's16';
  /** The samples per frame, except the last. */
  readonly frameSamples: number;
}

export class AudioFilterGraph {
  readonly #graph = new FilterGraph();
  readonly #source: FilterContext;
  readonly #sink: FilterContext;
  readonly #inputFormat: string;

  constructor(frame: Frame, timeBase: Ratio, { sampleRate, channels, sampleFormat, frameSamples }: AudioFormat) {
    this.#inputFormat = formatOf(frame);
    this.#graph.alloc();
    this.#source = this.#add('abuffer', `${this.#inputFormat}:time_base=${timeBase.num}/${timeBase.den}`);
    const layout = must(avChannelLayoutDescribe(avChannelLayoutDefault(channels)), 'the default channel layout');
    const format = this.#add(
      'aformat',
      `sample_fmts=${sampleFormat}:sample_rates=${sampleRate}:channel_layouts=${layout}`,
    );
    const fillGaps = this.#add('aresample', 'async=1');
    const split = this.#add('asetnsamples', `n=${frameSamples}:p=0`);
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
