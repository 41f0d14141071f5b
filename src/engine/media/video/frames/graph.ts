// The filter graph of one video, which turns decoded frames into upright yuv420p frames with bars. It is built filter
// by filter from a list of steps. No graph description is parsed, so no caption can reach the arguments of a filter.

import {
  AV_BUFFERSRC_FLAG_PUSH,
  AV_PIX_FMT_YUVA420P,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT709,
  AVERROR_EOF,
} from 'node-av/constants';
import { Filter, type FilterContext, FilterGraph, Frame } from 'node-av/lib';
import { must } from '../../../../shared/must.ts';
import { AGAIN, check } from '../probe/check.ts';
import type { Ratio } from './geometry.ts';
import type { FilterStep } from './steps.ts';
import { CONVERT_TO_H264, undecodable } from '../undecodable.ts';

/** A finished bar as yuva420p: the planes one after the other, without padding. */
export interface BarImage {
  readonly top: number;
  /** The first column; 0 by default. */
  readonly left?: number;
  readonly width: number;
  readonly height: number;
  readonly planes: Uint8Array;
}

export interface GraphInput {
  readonly width: number;
  readonly height: number;
  readonly pixelFormat: string;
  readonly timeBase: Ratio;
  readonly colorspace: string;
  readonly range: string;
}

/** Bars start this long before time zero, because the overlay filter shows nothing before its second input starts. */
const BAR_LEAD_SECONDS = 3_600;

interface AddedStep {
  readonly context: FilterContext;
  /** How many of its outputs are linked to later steps. */
  outputs: number;
}

export class VideoFilterGraph {
  readonly #graph = new FilterGraph();
  readonly #source: FilterContext;
  readonly #sink: FilterContext;

  constructor(input: GraphInput, steps: readonly FilterStep[], bars: readonly BarImage[]) {
    this.#graph.alloc();
    this.#source = this.#add('buffer', 'in', bufferArguments(input));
    let tail = this.#addSteps(steps);
    const barSources: { readonly bar: BarImage; readonly source: FilterContext }[] = [];
    for (const [index, bar] of bars.entries()) {
      const source = this.#add('buffer', `bar${index}`, barArguments(bar, input.timeBase));
      const overlay = this.#add(
        'overlay',
        `over${index}`,
        `x=${bar.left ?? 0}:y=${bar.top}:eof_action=repeat:format=yuv420`,
      );
      check(source.link(0, overlay, 1), 'link bar');
      tail = this.#append(tail, overlay);
      barSources.push({ bar, source });
    }
    this.#sink = this.#append(tail, this.#add('buffersink', 'out', null));
    if (this.#graph.configSync() < 0) {
      this.#graph.free();
      throw undecodable("its pixel format or colors can't be converted", CONVERT_TO_H264);
    }
    for (const { bar, source } of barSources) sendBar(source, bar, input.timeBase);
  }

  get timeBase(): Ratio {
    return this.#sink.buffersinkGetTimeBase();
  }

  /** Takes over the frame's data; the frame is empty afterwards. */
  push(frame: Frame): void {
    check(this.#source.buffersrcAddFrameSync(frame, AV_BUFFERSRC_FLAG_PUSH), 'filter frame');
  }

  finish(): void {
    check(this.#source.buffersrcAddFrameSync(null), 'flush filters');
  }

  /** Receives the next filtered frame. Returns false when there is none yet. */
  pull(frame: Frame): boolean {
    const result = this.#sink.buffersinkGetFrameSync(frame);
    if (result === AGAIN || result === AVERROR_EOF) return false;
    check(result, 'receive filtered frame');
    return true;
  }

  free(): void {
    this.#graph.free();
  }

  #addSteps(steps: readonly FilterStep[]): FilterContext {
    let tail: AddedStep = { context: this.#source, outputs: 0 };
    const named = new Map<string, AddedStep>();
    for (const [index, { filter, args, name, from }] of steps.entries()) {
      const context = this.#add(filter, `step${index}`, args);
      const sources = from?.map((source) => must(named.get(source), `the step ${source}`)) ?? [tail];
      for (const [input, source] of sources.entries()) {
        check(source.context.link(source.outputs, context, input), 'link filters');
        source.outputs += 1;
      }
      tail = { context, outputs: 0 };
      if (name !== undefined) named.set(name, tail);
    }
    return tail.context;
  }

  #add(filterName: string, instanceName: string, args: string | null): FilterContext {
    const filter = Filter.getByName(filterName);
    const context = filter === null ? null : this.#graph.createFilter(filter, instanceName, args);
    if (context === null) throw new Error(`cannot create filter ${filterName} (${args ?? ''})`);
    return context;
  }

  #append(tail: FilterContext, next: FilterContext): FilterContext {
    check(tail.link(0, next, 0), 'link filters');
    return next;
  }
}

function bufferArguments({ width, height, pixelFormat, timeBase, colorspace, range }: GraphInput): string {
  const format = `video_size=${width}x${height}:pix_fmt=${pixelFormat}:pixel_aspect=1/1`;
  return `${format}:time_base=${timeBase.num}/${timeBase.den}:colorspace=${colorspace}:range=${range}`;
}

function barArguments({ width, height }: BarImage, timeBase: Ratio): string {
  return bufferArguments({ width, height, pixelFormat: 'yuva420p', timeBase, colorspace: 'bt709', range: 'tv' });
}

function sendBar(source: FilterContext, bar: BarImage, timeBase: Ratio): void {
  const frame = barFrame(bar, timeBase);
  check(source.buffersrcAddFrameSync(frame), 'send bar');
  check(source.buffersrcAddFrameSync(null), 'finish bar');
  frame.free();
}

function barFrame({ width, height, planes }: BarImage, timeBase: Ratio): Frame {
  const pts = -BigInt(Math.round((BAR_LEAD_SECONDS * timeBase.den) / timeBase.num));
  const buffer = Buffer.from(planes.buffer, planes.byteOffset, planes.byteLength);
  const frame = Frame.fromVideoBuffer(buffer, { width, height, format: AV_PIX_FMT_YUVA420P, timeBase, pts });
  frame.colorSpace = AVCOL_SPC_BT709;
  frame.colorRange = AVCOL_RANGE_MPEG;
  return frame;
}
