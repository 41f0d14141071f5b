// A video rendered whole and rendered in segments, and what tells the two files apart.

import { appendFileSync, readFileSync } from 'node:fs';
import { AVMEDIA_TYPE_AUDIO, AVMEDIA_TYPE_VIDEO } from 'node-av/constants';
import { Codec, CodecContext, FormatContext, Frame, Packet, type Stream } from 'node-av/lib';
import type { VideoSegment } from '../../src/media/video/segments/cuts.ts';
import { createRenderTools } from '../../src/render/renderer-tools.ts';
import type { VideoRecipe } from '../../src/render/video-recipe.ts';
import { joinVideo, renderOnVideo, type VideoFacts } from '../../src/render/video.ts';

const tools = createRenderTools();

/** The pieces travel as JSON and as files, as they do between machines. */
export async function renderInSegments(
  recipe: VideoRecipe,
  segments: readonly VideoSegment[],
  path: string,
  outPath: string,
): Promise<VideoFacts> {
  const together = `${outPath}.segments`;
  for (const [index, segment] of segments.entries()) {
    const file = `${outPath}.${index}`;
    const piece = { type: 'segment', segment } as const;
    await renderOnVideo(travelled({ ...recipe, piece }), path, file, tools);
    appendFileSync(together, readFileSync(file));
  }
  const piece = { type: 'join', segments } as const;
  return await joinVideo(travelled({ ...recipe, piece }), { asset: path, segments: together, output: outPath });
}

function travelled(recipe: VideoRecipe): VideoRecipe {
  return JSON.parse(JSON.stringify(recipe)) as VideoRecipe;
}

export interface FileAnatomy {
  readonly seconds: number;
  /** Each track's own words about itself. */
  readonly tracks: readonly Readonly<Record<string, unknown>>[];
  /** When each frame is shown, in that order. */
  readonly frames: readonly number[];
  /** In the order of decoding; MP4 has durations only there. */
  readonly decoding: readonly { readonly dts: number; readonly duration: number }[];
  readonly keyframes: readonly number[];
  readonly sounds: readonly { readonly pts: number; readonly duration: number; readonly data: string }[];
}

export function anatomyOf(path: string): FileAnatomy {
  const input = open(path);
  const video = trackOf(input, AVMEDIA_TYPE_VIDEO);
  const audio = trackOf(input, AVMEDIA_TYPE_AUDIO);
  const frames: number[] = [];
  const keyframes: number[] = [];
  const decoding: { dts: number; duration: number }[] = [];
  const sounds: { pts: number; duration: number; data: string }[] = [];
  const packet = new Packet();
  packet.alloc();
  while (input.readFrameSync(packet) >= 0) {
    const [pts, duration] = [Number(packet.pts), Number(packet.duration)];
    if (packet.streamIndex === video?.index) {
      frames.push(pts);
      decoding.push({ dts: Number(packet.dts), duration });
      if (packet.isKeyframe) keyframes.push(pts);
    } else if (packet.streamIndex === audio?.index) {
      sounds.push({ pts, duration, data: packet.data?.toString('base64') ?? '' });
    }
    packet.unref();
  }
  const tracks = [video, audio].flatMap((track) => (track ? [describeTrack(track)] : []));
  const seconds = Number(input.duration) / 1e6;
  packet.free();
  input.closeInputSync();
  frames.sort((one, other) => one - other);
  return { seconds, tracks, frames, decoding, keyframes, sounds };
}

/** Of every frame of one file against the same frame of the other, the worst; in decibels, of the luma. */
export function worstLikeness(one: string, other: string): { readonly decibels: number; readonly frame: number } {
  const [left, right] = [lumaOf(one), lumaOf(other)];
  let worst = { decibels: Number.POSITIVE_INFINITY, frame: -1 };
  for (let frame = 0; ; frame += 1) {
    const [a, b] = [left.next(), right.next()];
    if (a.done === true || b.done === true) {
      if (a.done !== b.done) throw new Error(`one file ends at frame ${frame}`);
      return worst;
    }
    const decibels = psnr(a.value, b.value);
    if (decibels < worst.decibels) worst = { decibels, frame };
  }
}

/** Of every frame against its successor, the best: what a doubled or missing frame would look like. */
export function likenessOfNeighbours(path: string): number {
  let before: Buffer | undefined;
  let best = 0;
  for (const luma of lumaOf(path)) {
    if (before) best = Math.max(best, psnr(before, luma));
    before = luma;
  }
  return best;
}

function psnr(one: Buffer, other: Buffer): number {
  let sum = 0;
  for (let index = 0; index < one.length; index += 1) sum += ((one[index] ?? 0) - (other[index] ?? 0)) ** 2;
  return 10 * Math.log10(255 ** 2 / Math.max(sum / one.length, 1e-3));
}

function* lumaOf(path: string): Generator<Buffer, undefined> {
  const input = open(path);
  const video = trackOf(input, AVMEDIA_TYPE_VIDEO);
  if (!video) throw new Error('no video in the result');
  const codec = Codec.findDecoder(video.codecpar.codecId);
  const context = new CodecContext();
  context.allocContext3(codec);
  context.parametersToContext(video.codecpar);
  context.open2Sync(codec);
  const [packet, frame] = [new Packet(), new Frame()];
  packet.alloc();
  frame.alloc();
  try {
    for (let isMore = true; isMore; ) {
      isMore = input.readFrameSync(packet) >= 0;
      if (isMore && packet.streamIndex !== video.index) continue;
      if (context.sendPacketSync(isMore ? packet : null) < 0) throw new Error('the result cannot be decoded');
      while (context.receiveFrameSync(frame) >= 0) {
        if (frame.decodeErrorFlags !== 0) throw new Error('the result is damaged');
        yield frame.toBuffer().subarray(0, frame.width * frame.height);
      }
    }
  } finally {
    packet.free();
    frame.free();
    context.freeContext();
    input.closeInputSync();
  }
}

function describeTrack({ timeBase, startTime, duration, codecpar }: Stream): Readonly<Record<string, unknown>> {
  const { codecId, codecTag, width, height, profile, level, extradata } = codecpar;
  const { colorSpace, colorPrimaries, colorTrc, colorRange, sampleAspectRatio, sampleRate, channels } = codecpar;
  return {
    timeBase: `${timeBase.num}/${timeBase.den}`,
    startTime: Number(startTime),
    duration: Number(duration),
    codec: [codecId, codecTag, profile, level, extradata?.toString('base64')],
    picture: [width, height, `${sampleAspectRatio.num}/${sampleAspectRatio.den}`],
    colors: [colorSpace, colorPrimaries, colorTrc, colorRange],
    sound: [sampleRate, channels],
  };
}

function open(path: string): FormatContext {
  const input = new FormatContext();
  if (input.openInputSync(path) < 0) throw new Error(`${path} cannot be opened`);
  input.findStreamInfoSync();
  return input;
}

function trackOf(input: FormatContext, type: number): Stream | undefined {
  return input.streams.find(({ codecpar }) => codecpar.codecType === type);
}
