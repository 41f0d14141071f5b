// The video track: decoder, filters, bars, encoder. Frames keep their source timestamps, shifted so that the video
// starts at zero, and a frame that goes back in time is dropped.

import { AV_NOPTS_VALUE, AV_PKT_DATA_QUALITY_STATS } from 'node-av/constants';
import { avRescaleQ, Frame, Packet, type Stream } from 'node-av/lib';
import type { MediaOutput } from '../output.ts';
import { outputTimeBase, toFrameRate } from '../probe/timing.ts';
import type { TranscodeFacts, TranscodePlan } from '../transcode-plan.ts';
import { BarBlender, type TimedBars } from './bar-blender.ts';
import { Decoder } from './decoder.ts';
import { type Encoder, openVideoEncoder, requestKeyframe } from './encoder.ts';
import type { Ratio } from './geometry.ts';
import { FrameClock, type Timestamp } from './frame-clock.ts';
import { FrameConverter } from './frame-converter.ts';
import { FrameStrokes } from './frame-strokes.ts';
import { FrameThinning } from './thinning.ts';

export class VideoTrack {
  readonly #plan: TranscodePlan;
  readonly #bars: TimedBars;
  readonly #blender: BarBlender;
  readonly #strokes: FrameStrokes | undefined;
  readonly #clock = new FrameClock();
  readonly #decoder: Decoder;
  readonly #encoder: Encoder;
  readonly #output: MediaOutput;
  readonly #track: number;
  readonly #timeBase: Ratio;
  readonly #offset: bigint;
  readonly #defaultDuration: bigint;
  readonly #thinning: FrameThinning;
  readonly #converter: FrameConverter;
  readonly #decoded = new Frame();
  readonly #packet = new Packet();
  #firstPts = AV_NOPTS_VALUE as bigint;
  #lastPts = AV_NOPTS_VALUE as bigint;
  #lastDuration = 0n;
  #frames = 0;
  #bytes = 0;
  #quantizers = 0;

  constructor(plan: TranscodePlan, stream: Stream, bars: TimedBars, output: MediaOutput) {
    this.#plan = plan;
    this.#bars = bars;
    this.#output = output;
    this.#timeBase = outputTimeBase(plan.video.timeBase);
    this.#blender = new BarBlender(plan.canvas, this.#timeBase);
    this.#strokes = bars.strokes && new FrameStrokes(bars.strokes);
    this.#offset = BigInt(Math.round((plan.offset * this.#timeBase.den) / this.#timeBase.num));
    const frameRate = toFrameRate(plan.frameRate);
    const ticksPerFrame = (this.#timeBase.den * frameRate.den) / (this.#timeBase.num * frameRate.num);
    this.#defaultDuration = BigInt(Math.max(1, Math.round(ticksPerFrame)));
    this.#thinning = new FrameThinning(plan);
    this.#decoder = new Decoder(plan.video.decoder, stream, { maxPixels: plan.bounds.pixels, threads: 0 });
    this.#encoder = openVideoEncoder(plan.canvas, plan.encoder, { timeBase: this.#timeBase, frameRate });
    this.#track = output.addEncodedTrack(this.#encoder);
    this.#converter = new FrameConverter(plan, (frame, timeBase) => this.#encode(frame, timeBase));
    for (const buffer of [this.#decoded, this.#packet]) buffer.alloc();
  }

  get frames(): number {
    return this.#frames;
  }

  get facts(): TranscodeFacts {
    const quantizer = this.#quantizers / Math.max(1, this.#frames);
    return { frames: this.#frames, durationSeconds: this.seconds, videoBytes: this.#bytes, quantizer };
  }

  get seconds(): number {
    const ticks = this.#frames === 0 ? 0n : this.#lastPts - this.#firstPts + this.#lastDuration;
    return (Number(ticks) * this.#timeBase.num) / this.#timeBase.den;
  }

  /** `null` flushes the decoder. */
  process(packet: Packet | null): void {
    this.#decoder.send(packet);
    while (this.#decoder.receive(this.#decoded)) this.#filter();
  }

  finish(): void {
    this.process(null);
    this.#converter.finish();
    this.#encoder.send(null);
    this.#writePackets();
  }

  free(): void {
    this.#converter.free();
    this.#blender.free();
    this.#decoder.free();
    this.#encoder.free();
    for (const buffer of [this.#decoded, this.#packet]) buffer.free();
  }

  #filter(): void {
    const { bestEffortTimestamp } = this.#decoded;
    if (bestEffortTimestamp !== AV_NOPTS_VALUE) this.#decoded.pts = bestEffortTimestamp;
    if (this.#thinning.keeps(this.#decoded.pts)) this.#converter.push(this.#decoded);
  }

  #encode(frame: Frame, timeBase: Ratio): void {
    const pts = this.#presentationTime(frame, timeBase);
    if (this.#frames > 0 && pts <= this.#lastPts) return;
    const bars = this.#bars.at(this.#clock.millisecondsAt(this.#shownAt(frame, timeBase, pts)));
    // Without a duration, the last frame would end when it starts, and the index would omit it.
    frame.duration = this.#durationOf(frame, timeBase, pts);
    // MP4 stores the duration of the frame that is decoded last. After a keyframe, no earlier frame is decoded.
    if (frame.duration > this.#defaultDuration && this.#isLast(pts)) requestKeyframe(frame);
    frame.pts = pts;
    if (bars.length > 0) this.#blender.blend(frame, bars);
    this.#strokes?.draw(frame);
    if (this.#frames === 0) this.#firstPts = pts;
    this.#lastPts = pts;
    this.#lastDuration = frame.duration;
    this.#frames += 1;
    this.#encoder.send(frame);
    this.#writePackets();
  }

  #durationOf({ duration }: Frame, timeBase: Ratio, pts: bigint): bigint {
    const left = this.#ticksOf(this.#plan.video.end) - pts;
    if (this.#isLast(pts) && left > 0n) return left;
    if (this.#plan.frameStep === 1 && duration > 0n) return avRescaleQ(duration, timeBase, this.#timeBase);
    // A kept frame also stands for those dropped after it, and no frame lasts beyond the end of the video.
    return left > 0n && left < this.#defaultDuration ? left : this.#defaultDuration;
  }

  /** Returns true when no frame is kept after this one. */
  #isLast(pts: bigint): boolean {
    const { frameStep, video } = this.#plan;
    return (frameStep === 1 ? pts : pts + this.#defaultDuration) >= this.#ticksOf(video.lastStart);
  }

  /** Returns a time of the source as a time of the output. */
  #ticksOf(seconds: number): bigint {
    return BigInt(Math.round((seconds * this.#timeBase.den) / this.#timeBase.num)) - this.#offset;
  }

  /** A frame without a timestamp directly follows the frame before it. */
  #presentationTime({ pts }: Frame, timeBase: Ratio): bigint {
    if (pts !== AV_NOPTS_VALUE) {
      return avRescaleQ(pts, timeBase, this.#timeBase) - this.#offset;
    }
    return this.#frames === 0 ? 0n : this.#lastPts + this.#defaultDuration;
  }

  /** The timestamp of the source is more precise than that of the output, but a frame may have none. */
  #shownAt({ pts }: Frame, timeBase: Ratio, outputPts: bigint): Timestamp {
    return pts === AV_NOPTS_VALUE ? { pts: outputPts + this.#offset, timeBase: this.#timeBase } : { pts, timeBase };
  }

  #writePackets(): void {
    while (this.#encoder.receive(this.#packet)) {
      this.#bytes += this.#packet.size;
      this.#quantizers += quantizerOf(this.#packet);
      this.#output.write(this.#packet, this.#track, this.#timeBase);
    }
  }
}

/** FFmpeg stores quantizers multiplied by this. */
const LAMBDA_PER_QUANTIZER = 118;

function quantizerOf(packet: Packet): number {
  const statistics = packet.getSideData(AV_PKT_DATA_QUALITY_STATS);
  return statistics === null ? 0 : statistics.readUInt32LE(0) / LAMBDA_PER_QUANTIZER;
}
