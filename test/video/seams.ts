// Renders a video in segments, and compares the result with that of a whole render.

import { appendFileSync, readFileSync } from 'node:fs';
import { AVMEDIA_TYPE_AUDIO, AVMEDIA_TYPE_VIDEO } from 'node-av/constants';
import { Codec, CodecContext, FormatContext, Frame, Packet, type Stream } from 'node-av/lib';
import type { VideoSegment } from '../../src/media/video/segments/plan.ts';
import { joinPiece, segmentPiece } from '../../src/media/video/segments/work.ts';
import { createRenderTools } from '../../src/render/renderer-tools.ts';
import type { VideoRecipe } from '../../src/render/video-recipe.ts';
import { renderOnVideo, type VideoFacts } from '../../src/render/video.ts';

const tools = createRenderTools();

/** Recipes go through JSON and segments through files, as between machines. */
export async function renderInSegments(
  recipe: VideoRecipe,
  segments: readonly VideoSegment[],
  path: string,
  outPath: string,
): Promise<VideoFacts> {
  const segmentsPath = `${outPath}.segments`;
  for (const [index, segment] of segments.entries()) {
    const file = `${outPath}.${index}`;
    const piece = segmentPiece(segment);
    await renderOnVideo(throughJson({ ...recipe, piece }), path, file, tools);
    appendFileSync(segmentsPath, readFileSync(file));
  }
  const piece = joinPiece(segments, recipe.video.frames);
  return await renderOnVideo(throughJson({ ...recipe, piece }), path, outPath, tools, { attachment: segmentsPath });
}

function throughJson(recipe: VideoRecipe): VideoRecipe {
  return JSON.parse(JSON.stringify(recipe)) as VideoRecipe;
}

export interface FileStructure {
  readonly seconds: number;
  /** The parameters of each track. */
  readonly tracks: readonly Readonly<Record<string, unknown>>[];
  /** Presentation times, in that order. */
  readonly frames: readonly number[];
  /** Packets in decoding order, the only order for which MP4 stores durations. */
  readonly decoding: readonly { readonly dts: number; readonly duration: number }[];
  readonly keyframes: readonly number[];
  readonly audioPackets: readonly { readonly pts: number; readonly duration: number; readonly data: string }[];
}

export function structureOf(path: string): FileStructure {
  const input = open(path);
  const video = trackOf(input, AVMEDIA_TYPE_VIDEO);
  const audio = trackOf(input, AVMEDIA_TYPE_AUDIO);
  const frames: number[] = [];
  const keyframes: number[] = [];
  const decoding: { dts: number; duration: number }[] = [];
  const audioPackets: { pts: number; duration: number; data: string }[] = [];
  const packet = new Packet();
  packet.alloc();
  while (input.readFrameSync(packet) >= 0) {
    const [pts, duration] = [Number(packet.pts), Number(packet.duration)];
    if (packet.streamIndex === video?.index) {
      frames.push(pts);
      decoding.push({ dts: Number(packet.dts), duration });
      if (packet.isKeyframe) keyframes.push(pts);
    } else if (packet.streamIndex === audio?.index) {
      audioPackets.push({ pts, duration, data: packet.data?.toString('base64') ?? '' });
    }
    packet.unref();
  }
  const tracks = [video, audio].flatMap((track) => (track ? [describeTrack(track)] : []));
  const seconds = Number(input.duration) / 1e6;
  packet.free();
  input.closeInputSync();
  frames.sort((a, b) => a - b);
  return { seconds, tracks, frames, decoding, keyframes, audioPackets };
}

/** Returns the lowest luma PSNR between a frame of one file and the same frame of the other. */
export function lowestPsnr(one: string, other: string): { readonly decibels: number; readonly frame: number } {
  const [left, right] = [lumaOf(one), lumaOf(other)];
  let lowest = { decibels: Number.POSITIVE_INFINITY, frame: -1 };
  for (let frame = 0; ; frame += 1) {
    const [a, b] = [left.next(), right.next()];
    if (a.done === true || b.done === true) {
      if (a.done !== b.done) throw new Error(`one of the files ends at frame ${frame}`);
      return lowest;
    }
    const decibels = psnr(a.value, b.value);
    if (decibels < lowest.decibels) lowest = { decibels, frame };
  }
}

/** Returns the highest PSNR between two consecutive frames, which is the value for a repeated or missing frame. */
export function highestPsnrOfNeighbors(path: string): number {
  let previous: Buffer | undefined;
  let highest = 0;
  for (const luma of lumaOf(path)) {
    if (previous) highest = Math.max(highest, psnr(previous, luma));
    previous = luma;
  }
  return highest;
}

function psnr(one: Buffer, other: Buffer): number {
  let sum = 0;
  for (let index = 0; index < one.length; index += 1) sum += ((one[index] ?? 0) - (other[index] ?? 0)) ** 2;
  return 10 * Math.log10(255 ** 2 / Math.max(sum / one.length, 1e-3));
}

function* lumaOf(path: string): Generator<Buffer, undefined> {
  const input = open(path);
  const video = trackOf(input, AVMEDIA_TYPE_VIDEO);
  if (!video) throw new Error('the file has no video track');
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
      if (context.sendPacketSync(isMore ? packet : null) < 0) throw new Error('the output cannot be decoded');
      while (context.receiveFrameSync(frame) >= 0) {
        if (frame.decodeErrorFlags !== 0) throw new Error('the output has a damaged frame');
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
    frame: [width, height, `${sampleAspectRatio.num}/${sampleAspectRatio.den}`],
    colors: [colorSpace, colorPrimaries, colorTrc, colorRange],
    audio: [sampleRate, channels],
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
