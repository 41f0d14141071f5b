// Turns decoded frames into upright 8-bit BT.709 frames of the output's size: tone mapping, then the filters of the plan.

import { avGetPixFmtName, Frame } from 'node-av/lib';
import { orient } from '../probe/orientation.ts';
import { filterColorOptions, writeColorTags } from '../probe/tags.ts';
import type { TranscodePlan } from '../transcode-plan.ts';
import { clearPictureType } from './encoder.ts';
import { fitSteps } from './fit-steps.ts';
import { evenSide, type Ratio } from './geometry.ts';
import { VideoFilterGraph } from './graph.ts';
import { filterSteps, refitSteps, toneMappedFormat, toneMappingOf } from './steps.ts';
import { ToneMapper } from './tone-mapper.ts';

export type ConversionPlan = Pick<TranscodePlan, 'canvas' | 'video' | 'steps' | 'fit'>;

export class FrameConverter {
  readonly #plan: ConversionPlan;
  readonly #onConverted: (frame: Frame, timeBase: Ratio) => void;
  readonly #converted = new Frame();
  #toneMapper: ToneMapper | undefined;
  #graph: VideoFilterGraph | undefined;
  #graphFormat = '';

  /** The converted frame is valid only during the call. */
  constructor(plan: ConversionPlan, onConverted: (frame: Frame, timeBase: Ratio) => void) {
    this.#plan = plan;
    this.#onConverted = onConverted;
    this.#converted.alloc();
  }

  /** Takes over the data of the frame. */
  push(decoded: Frame): void {
    const { video } = this.#plan;
    const mapped = this.#toneMap(decoded);
    const frame = mapped ?? decoded;
    writeColorTags(frame, mapped ? toneMappedFormat(video).tags : video.tags);
    clearPictureType(frame);
    this.#ensureGraph(frame, mapped ? toneMappedFormat(video) : video);
    this.#graph?.push(frame);
    mapped?.free();
    this.#deliver();
  }

  /** Delivers the frames that the filters hold back. */
  finish(): void {
    this.#graph?.finish();
    this.#deliver();
  }

  free(): void {
    this.#graph?.free();
    this.#converted.free();
  }

  /** Returns undefined for a frame that the filters convert. A stream can change its format midway. */
  #toneMap(decoded: Frame): Frame | undefined {
    const { width, height } = decoded;
    const pixelFormat = pixelFormatOf(decoded) ?? '';
    const mapping = toneMappingOf({ ...this.#plan.video, decoded: { width, height }, pixelFormat });
    if (mapping === undefined) return undefined;
    this.#toneMapper ??= new ToneMapper(mapping);
    const mapped = this.#toneMapper.map(decoded);
    decoded.unref();
    return mapped;
  }

  /** Some streams change their size or format midway. A filter graph accepts only one format, so it is rebuilt. */
  #ensureGraph(frame: Frame, video: TranscodePlan['video']): void {
    const { steps, canvas, fit } = this.#plan;
    const { width, height } = frame;
    const pixelFormat = pixelFormatOf(frame) ?? video.pixelFormat;
    const format = `${width}x${height} ${pixelFormat} ${video.tags.transfer}`;
    if (format === this.#graphFormat) return;
    if (this.#graph !== undefined) {
      this.finish();
      this.#graph.free();
      this.#graph = undefined;
      this.#graphFormat = '';
    }
    const isPlannedSize = width === video.decoded.width && height === video.decoded.height;
    const resized = {
      ...video,
      decoded: { width, height },
      square: { width: evenSide(width), height: evenSide(height) },
      pixelFormat,
    };
    const isAsPlanned = isPlannedSize && pixelFormat === video.pixelFormat;
    const changed = isPlannedSize ? { ...video, pixelFormat } : resized;
    const sized = fit ? fitSteps(orient(changed.square, video.orientation), fit) : refitSteps(canvas);
    const chain = isAsPlanned ? steps : [...filterSteps(changed), ...sized];
    const input = { width, height, pixelFormat, timeBase: video.timeBase, ...filterColorOptions(video.tags) };
    this.#graph = new VideoFilterGraph(input, chain, []);
    this.#graphFormat = format;
  }

  #deliver(): void {
    while (this.#graph?.pull(this.#converted) === true) {
      this.#onConverted(this.#converted, this.#graph.timeBase);
      this.#converted.unref();
    }
  }
}

function pixelFormatOf(frame: Frame): string | null {
  return avGetPixFmtName(frame.format as Parameters<typeof avGetPixFmtName>[0]);
}
