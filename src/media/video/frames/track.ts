// The picture on its way: decoder, filters with bars, encoder. Timestamps are the source's own; only their beginning is
// moved, and a frame that goes back in time is left out. So the time of a frame never depends on those before it, and a
// stretch of the video comes out as it would in the whole.

import { AV_NOPTS_VALUE } from 'node-av/constants';
import { avGetPixFmtName, avRescaleQ, Frame, Packet, type Stream } from 'node-av/lib';
import { Decoder } from './decoder.ts';
import { type Encoder, clearPictureType, openVideoEncoder } from './encoder.ts';
import { evenSide, type Ratio } from './geometry.ts';
import type { PacketSink } from '../output.ts';
import { type BarImage, VideoFilterGraph } from './graph.ts';
import { filterSteps, refitSteps } from './steps.ts';
import { filterColorOptions, writeColorTags } from '../probe/tags.ts';
import { outputTimeBase, toFrameRate } from '../probe/timing.ts';
import type { TranscodePlan } from '../transcode.ts';

export class VideoTrack {
  readonly #plan: TranscodePlan;
  readonly #isWanted: (frame: Frame) => boolean;
  readonly #bars: readonly BarImage[];
  readonly #decoder: Decoder;
  readonly #encoder: Encoder;
  readonly #output: PacketSink;
  readonly #track: number;
  readonly #timeBase: Ratio;
  readonly #offset: bigint;
  readonly #usualDuration: bigint;
  readonly #decoded = new Frame();
  readonly #finished = new Frame();
  readonly #packet = new Packet();
  #graph: VideoFilterGraph | undefined;
  #graphKey = '';
  #firstPts = AV_NOPTS_VALUE as bigint;
  #lastPts = AV_NOPTS_VALUE as bigint;
  #lastDuration = 0n;
  #frames = 0;

  /** `isWanted`: frames that are only decoded for the sake of others are left out. */
  constructor(
    plan: TranscodePlan,
    stream: Stream,
    bars: readonly BarImage[],
    output: PacketSink,
    isWanted: (frame: Frame) => boolean = () => true,
  ) {
    this.#plan = plan;
    this.#isWanted = isWanted;
    this.#bars = bars;
    this.#output = output;
    this.#timeBase = outputTimeBase(plan.video.timeBase);
    this.#offset = BigInt(Math.round((plan.offset * this.#timeBase.den) / this.#timeBase.num));
    const rate = toFrameRate(plan.frameRate);
    const usual = (this.#timeBase.den * rate.den) / (this.#timeBase.num * rate.num);
    this.#usualDuration = BigInt(Math.max(1, Math.round(usual)));
    this.#decoder = new Decoder(plan.video.decoder, stream, { maxPixels: plan.bounds.pixels, threads: 0 });
    const timing = { timeBase: this.#timeBase, frameRate: rate };
    this.#encoder = openVideoEncoder(plan.canvas, plan.encoder, timing);
    this.#track = output.addEncodedTrack(this.#encoder);
    for (const holder of [this.#decoded, this.#finished, this.#packet]) holder.alloc();
  }

  get frames(): number {
    return this.#frames;
  }

  get seconds(): number {
    const ticks = this.#frames === 0 ? 0n : this.#lastPts - this.#firstPts + this.#lastDuration;
    return (Number(ticks) * this.#timeBase.num) / this.#timeBase.den;
  }

  take(packet: Packet | null): void {
    this.#decoder.send(packet);
    while (this.#decoder.receive(this.#decoded)) this.#filter();
  }

  finish(): void {
    this.take(null);
    this.#graph?.finish();
    this.#encodeFinished();
    this.#encoder.send(null);
    this.#writePackets();
  }

  free(): void {
    this.#graph?.free();
    this.#decoder.free();
    this.#encoder.free();
    for (const holder of [this.#decoded, this.#finished, this.#packet]) holder.free();
  }

  #filter(): void {
    const { video } = this.#plan;
    const { bestEffortTimestamp } = this.#decoded;
    if (bestEffortTimestamp !== AV_NOPTS_VALUE) this.#decoded.pts = bestEffortTimestamp;
    if (!this.#isWanted(this.#decoded)) return;
    writeColorTags(this.#decoded, video.tags);
    clearPictureType(this.#decoded);
    this.#prepareGraph();
    this.#graph?.push(this.#decoded);
    this.#encodeFinished();
  }

  /** Some streams change their size or format on the way; the filters are built for one, so they are built again. */
  #prepareGraph(): void {
    const { video, steps, canvas } = this.#plan;
    const { width, height } = this.#decoded;
    const pixelFormat =
      avGetPixFmtName(this.#decoded.format as Parameters<typeof avGetPixFmtName>[0]) ?? video.pixelFormat;
    const key = `${width}x${height} ${pixelFormat}`;
    if (key === this.#graphKey) return;
    if (this.#graph !== undefined) {
      this.#graph.finish();
      this.#encodeFinished();
      this.#graph.free();
      this.#graph = undefined;
      this.#graphKey = '';
    }
    const expected = width === video.decoded.width && height === video.decoded.height;
    const source = {
      ...video,
      decoded: { width, height },
      square: { width: evenSide(width), height: evenSide(height) },
      pixelFormat,
    };
    const sameAsPlanned = expected && pixelFormat === video.pixelFormat;
    const chain = sameAsPlanned
      ? steps
      : [...filterSteps(expected ? { ...video, pixelFormat } : source), ...refitSteps(canvas)];
    const input = { width, height, pixelFormat, timeBase: video.timeBase, ...filterColorOptions(video.tags) };
    this.#graph = new VideoFilterGraph(input, chain, this.#bars);
    this.#graphKey = key;
  }

  #encodeFinished(): void {
    while (this.#graph?.pull(this.#finished) === true) {
      this.#encode(this.#graph.timeBase);
      this.#finished.unref();
    }
  }

  #encode(timeBase: Ratio): void {
    const frame = this.#finished;
    const pts = this.#presentationTime(timeBase);
    if (this.#frames > 0 && pts <= this.#lastPts) return;
    // Without a duration the last frame would end when it begins, and the index would leave it out.
    frame.duration = frame.duration > 0n ? avRescaleQ(frame.duration, timeBase, this.#timeBase) : this.#usualDuration;
    frame.pts = pts;
    if (this.#frames === 0) this.#firstPts = pts;
    this.#lastPts = pts;
    this.#lastDuration = frame.duration;
    this.#frames += 1;
    this.#encoder.send(frame);
    this.#writePackets();
  }

  /** A frame without a timestamp follows its predecessor. */
  #presentationTime(timeBase: Ratio): bigint {
    if (this.#finished.pts !== AV_NOPTS_VALUE) {
      return avRescaleQ(this.#finished.pts, timeBase, this.#timeBase) - this.#offset;
    }
    return this.#frames === 0 ? 0n : this.#lastPts + this.#usualDuration;
  }

  #writePackets(): void {
    while (this.#encoder.receive(this.#packet)) this.#output.write(this.#packet, this.#track, this.#timeBase);
  }
}
