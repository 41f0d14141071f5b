// The filter graph of one video: decoded frames in, upright yuv420p frames with bars out. Built filter by filter from a
// list of steps, so no string is ever parsed and no caption can reach a filter's arguments.

import {
  AV_BUFFERSRC_FLAG_PUSH,
  AV_PIX_FMT_YUVA420P,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT709,
  AVERROR_EOF,
} from 'node-av/constants';
import { Filter, type FilterContext, FilterGraph, Frame } from 'node-av/lib';
import { AGAIN, check } from '../probe/check.ts';
import type { Ratio } from './geometry.ts';
import type { FilterStep } from './steps.ts';
import { undecodable } from '../undecodable.ts';

/** A finished bar in the frame's own planes: yuva420p, planes one after the other without padding. */
export interface BarImage {
  readonly top: number;
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

/** Bars count from before the first frame: the overlay filter shows nothing until its second input has begun. */
const BAR_LEAD_SECONDS = 3_600;

export class VideoFilterGraph {
  readonly #graph = new FilterGraph();
  readonly #source: FilterContext;
  readonly #sink: FilterContext;

  constructor(input: GraphInput, steps: readonly FilterStep[], bars: readonly BarImage[]) {
    this.#graph.alloc();
    this.#source = this.#add('buffer', 'in', bufferArguments(input));
    let tail = this.#source;
    for (const [index, step] of steps.entries()) {
      tail = this.#follow(tail, this.#add(step.filter, `step${index}`, step.args));
    }
    const barSources: FilterContext[] = [];
    for (const [index, bar] of bars.entries()) {
      const source = this.#add('buffer', `bar${index}`, barArguments(bar, input.timeBase));
      const overlay = this.#add('overlay', `over${index}`, `x=0:y=${bar.top}:eof_action=repeat:format=yuv420`);
      check(source.link(0, overlay, 1), 'link bar');
      tail = this.#follow(tail, overlay);
      barSources.push(source);
    }
    this.#sink = this.#follow(tail, this.#add('buffersink', 'out', null));
    if (this.#graph.configSync() < 0) {
      this.#graph.free();
      throw undecodable('its pixel format or its colors cannot be converted');
    }
    for (const [index, bar] of bars.entries()) sendBar(barSources[index], bar, input.timeBase);
  }

  get timeBase(): Ratio {
    return this.#sink.buffersinkGetTimeBase();
  }

  /** Takes the frame's reference: the frame is empty afterwards. */
  push(frame: Frame): void {
    check(this.#source.buffersrcAddFrameSync(frame, AV_BUFFERSRC_FLAG_PUSH), 'filter frame');
  }

  finish(): void {
    check(this.#source.buffersrcAddFrameSync(null), 'finish filters');
  }

  /** The next finished frame, if there is one. */
  pull(frame: Frame): boolean {
    const result = this.#sink.buffersinkGetFrameSync(frame);
    if (result === AGAIN || result === AVERROR_EOF) return false;
    check(result, 'take filtered frame');
    return true;
  }

  free(): void {
    this.#graph.free();
  }

  #add(filter: string, name: string, args: string | null): FilterContext {
    const kind = Filter.getByName(filter);
    const context = kind === null ? null : this.#graph.createFilter(kind, name, args);
    if (context === null) throw new Error(`cannot create filter ${filter} (${args ?? ''})`);
    return context;
  }

  #follow(from: FilterContext, to: FilterContext): FilterContext {
    check(from.link(0, to, 0), 'link filters');
    return to;
  }
}

function bufferArguments({ width, height, pixelFormat, timeBase, colorspace, range }: GraphInput): string {
  const shape = `video_size=${width}x${height}:pix_fmt=${pixelFormat}:pixel_aspect=1/1`;
  return `${shape}:time_base=${timeBase.num}/${timeBase.den}:colorspace=${colorspace}:range=${range}`;
}

function barArguments({ width, height }: BarImage, timeBase: Ratio): string {
  return bufferArguments({ width, height, pixelFormat: 'yuva420p', timeBase, colorspace: 'bt709', range: 'tv' });
}

function sendBar(source: FilterContext | undefined, bar: BarImage, timeBase: Ratio): void {
  const frame = barFrame(bar, timeBase);
  check(source?.buffersrcAddFrameSync(frame) ?? 0, 'send bar');
  check(source?.buffersrcAddFrameSync(null) ?? 0, 'finish bar');
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
