// One frame of a video as an image: the frame that players show at a time. Decoding starts at the keyframe before it.

import { AV_FRAME_FLAG_CORRUPT, AV_NOPTS_VALUE, AV_PKT_FLAG_DISCARD } from 'node-av/constants';
import { Frame, type Packet } from 'node-av/lib';
import { must } from '../../../shared/must.ts';
import type { DecodedImage } from '../image.ts';
import { Decoder } from './frames/decoder.ts';
import { FrameClock } from './frames/frame-clock.ts';
import { FrameConverter } from './frames/frame-converter.ts';
import { VideoFilterGraph } from './frames/graph.ts';
import { forEachPacket } from './packet-loop.ts';
import { check } from './probe/check.ts';
import { Container } from './probe/container.ts';
import { firstFrameOf } from './probe/timing.ts';
import type { TranscodePlan } from './transcode-plan.ts';
import { undecodable } from './undecodable.ts';

export type CoverPlan = Pick<TranscodePlan, 'format' | 'canvas' | 'video' | 'steps' | 'fit' | 'bounds'>;

/** Returns the last frame that starts at this time or before it, with the size and colors that it has in a rendered video. */
export async function decodeFrameAt(
  plan: CoverPlan,
  path: string,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<DecodedImage> {
  const isAnimation = plan.format === 'animation';
  const keyframes = isAnimation ? [] : await keyframesUpTo(plan, path, milliseconds, signal);
  // A decoder may need an earlier keyframe than the file says. The start of the file always works.
  for (const from of [...keyframes.toReversed().slice(0, 2), undefined]) {
    const image = await decodeFrom(plan, path, { from, milliseconds }, signal);
    if (image) return image;
  }
  throw undecodable('the frame at this time is damaged');
}

/** Returns the times of the keyframes from which the frame can be decoded, in the order of the file. */
async function keyframesUpTo(
  { format, video }: CoverPlan,
  path: string,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<readonly bigint[]> {
  const clock = new FrameClock(firstFrameOf(video));
  const isLater = (pts: bigint): boolean => clock.millisecondsAt({ pts, timeBase: video.timeBase }) > milliseconds;
  const keyframes: bigint[] = [];
  const handle = (packet: Packet): boolean => {
    if (packet.streamIndex !== video.index) return true;
    // No later packet of the file is shown before this time.
    if (packet.dts !== AV_NOPTS_VALUE && isLater(packet.dts)) return false;
    const isKnown = packet.isKeyframe && packet.pts !== AV_NOPTS_VALUE;
    if (isKnown && !isLater(packet.pts) && !packet.hasFlags(AV_PKT_FLAG_DISCARD)) keyframes.push(packet.pts);
    return true;
  };
  await withContainer({ format, video }, path, async (container) => await forEachPacket(container, handle, { signal }));
  return keyframes;
}

interface DecodedPart {
  /** The time of the keyframe that decoding starts with. Undefined for the start of the file. */
  readonly from: bigint | undefined;
  readonly milliseconds: number;
}

/** Returns undefined if the frame is missing or damaged. */
async function decodeFrom(
  plan: CoverPlan,
  path: string,
  { from, milliseconds }: DecodedPart,
  signal: AbortSignal | undefined,
): Promise<DecodedImage | undefined> {
  return await withContainer(plan, path, async (container) => {
    const stream = container.streamAt(plan.video.index);
    const decoder = new Decoder(plan.video.decoder, stream, { maxPixels: plan.bounds.pixels, threads: 0 });
    const search = new FrameSearch(plan, decoder, milliseconds);
    let isReached = from === undefined;
    const handle = (packet: Packet): boolean => {
      if (packet.streamIndex !== plan.video.index) return true;
      isReached ||= packet.pts === from;
      return !isReached || search.send(packet);
    };
    try {
      if (from !== undefined) container.seek(plan.video.index, from);
      await forEachPacket(container, handle, { signal });
      return search.finish(from === undefined);
    } finally {
      search.free();
      decoder.free();
    }
  });
}

/** Decodes until a frame is later than the one that is looked for. */
class FrameSearch {
  readonly #plan: CoverPlan;
  readonly #decoder: Decoder;
  readonly #clock: FrameClock;
  readonly #milliseconds: number;
  readonly #decoded = new Frame();
  readonly #found = new Frame();
  #isFound = false;
  #isPassed = false;

  constructor(plan: CoverPlan, decoder: Decoder, milliseconds: number) {
    this.#plan = plan;
    this.#decoder = decoder;
    this.#milliseconds = milliseconds;
    this.#clock = new FrameClock(firstFrameOf(plan.video));
    for (const frame of [this.#decoded, this.#found]) frame.alloc();
  }

  /** Returns whether more packets are needed. */
  send(packet: Packet | null): boolean {
    this.#decoder.send(packet);
    while (!this.#isPassed && this.#decoder.receive(this.#decoded)) this.#compare();
    return !this.#isPassed;
  }

  /** A damaged frame counts if nothing better can be decoded, as in a rendered video. */
  finish(acceptsDamage: boolean): DecodedImage | undefined {
    if (!this.#isPassed) this.send(null);
    const isDamaged = this.#found.hasFlags(AV_FRAME_FLAG_CORRUPT) || this.#found.decodeErrorFlags !== 0;
    if (!this.#isFound || (isDamaged && !acceptsDamage)) return undefined;
    return toImage(this.#plan, this.#found);
  }

  free(): void {
    for (const frame of [this.#decoded, this.#found]) frame.free();
  }

  #compare(): void {
    const { bestEffortTimestamp } = this.#decoded;
    if (bestEffortTimestamp !== AV_NOPTS_VALUE) this.#decoded.pts = bestEffortTimestamp;
    const { timeBase } = this.#plan.video;
    const time = this.#clock.millisecondsAt({ pts: this.#decoded.pts, timeBase });
    // The first frame stands for the time before it.
    this.#isPassed = time > this.#milliseconds && this.#isFound;
    if (this.#isPassed) return;
    this.#found.unref();
    check(this.#found.ref(this.#decoded), 'keep frame');
    this.#isFound = true;
  }
}

/** Converts the frame as in a rendered video, and then to RGB. */
function toImage(plan: CoverPlan, frame: Frame): DecodedImage {
  let image: DecodedImage | undefined;
  const converter = new FrameConverter(plan, (converted, timeBase) => {
    const input = { ...plan.canvas, pixelFormat: 'yuv420p', timeBase, colorspace: 'bt709', range: 'tv' };
    const graph = new VideoFilterGraph(input, TO_RGB, []);
    const rgb = new Frame();
    rgb.alloc();
    try {
      graph.push(converted);
      if (graph.pull(rgb)) image ??= pixelsOf(rgb);
    } finally {
      rgb.free();
      graph.free();
    }
  });
  try {
    converter.push(frame);
    converter.finish();
    return must(image, 'the converted frame');
  } finally {
    converter.free();
  }
}

const TO_RGB = [
  {
    filter: 'scale',
    args: 'in_color_matrix=bt709:in_range=tv:out_range=pc:flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp',
  },
  { filter: 'format', args: 'pix_fmts=rgb24' },
] as const;

/** Copies the pixels without the padding of rows. */
function pixelsOf({ width, height, data, linesize }: Frame): DecodedImage {
  const [plane, stride] = [must(data?.[0], 'the pixels of the frame'), must(linesize[0], 'the stride of the frame')];
  const pixels = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row += 1) {
    pixels.set(plane.subarray(row * stride, row * stride + width * 3), row * width * 3);
  }
  return { width, height, channels: 3, data: pixels };
}

async function withContainer<Result>(
  { format, video }: Pick<CoverPlan, 'format' | 'video'>,
  path: string,
  use: (container: Container) => Promise<Result>,
): Promise<Result> {
  const container = new Container(path, format);
  try {
    container.select([video.index]);
    return await use(container);
  } finally {
    container.close();
  }
}
