// Transparent videos of captions, in decoded pixels.

import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { AVERROR_EOF, type FFDecoderCodec } from 'node-av/constants';
import { avGetPixFmtName, Codec, CodecContext, FormatContext, Frame, Packet } from 'node-av/lib';
import { afterAll, describe, expect, it } from 'vitest';
import type { Overlay } from '../../src/engine/caption/overlay.ts';
import { VideoFilterGraph } from '../../src/engine/media/video/frames/graph.ts';
import { must } from '../../src/shared/must.ts';
import { bakeBands } from '../../src/engine/raster/blend.ts';
import { strokeImage } from '../../src/engine/raster/strokes.ts';
import { drawBands } from '../../src/engine/render/bands.ts';
import { renderClip } from '../../src/engine/render/clip.ts';
import { type ClipRecipe, composeClipRecipe } from '../../src/engine/render/clip-recipe.ts';
import { createRenderTools } from '../../src/engine/render/renderer-tools.ts';
import { Stopwatch } from '../../src/engine/render/timing.ts';
import { DEFAULT_VIDEO_LIMITS } from '../../src/engine/render/video-recipe.ts';
import { workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());
const tools = createRenderTools();

const CANVAS = { width: 200, height: 160 };
/** Nothing at first, then one caption, then two, one of which has colors. */
const OVERLAYS: readonly Overlay[] = [
  { text: 'First', position: 25, start: 0.2 },
  { text: 'Red 🎉', position: 75, start: 0.5, end: 0.8, style: { preset: 'box', background: '#e0245e' } },
];
/** At 10 frames per second: the first frame of each state, and how many frames it has. */
const STATES = [
  [0, 2],
  [2, 3],
  [5, 3],
  [8, 2],
] as const;

function compose(format: 'webm' | 'mov' | 'apng', watermark?: true): ClipRecipe {
  const recipe = composeClipRecipe(CANVAS, OVERLAYS, DEFAULT_VIDEO_LIMITS, { format, clip: { seconds: 1, fps: 10 } });
  return JSON.parse(JSON.stringify({ ...recipe, ...(watermark && { watermark }) }));
}

/** The pixels of a transparent PNG of the same moment. */
async function drawn(recipe: ClipRecipe, frame: number): Promise<Uint8Array> {
  const moment = { ...recipe, shownAt: frame * 100 };
  const { bands, strokes } = await drawBands(moment, tools, new Stopwatch());
  const image = { ...CANVAS, channels: 4, data: new Uint8Array(CANVAS.width * CANVAS.height * 4) } as const;
  bakeBands(image, bands);
  if (strokes) strokeImage(strokes, image);
  return image.data;
}

interface PngFrame {
  readonly ticks: number;
  readonly pixels: Uint8Array;
}

/** Reads frames whose rows have no filter, as ours do. */
function readApng(bytes: Buffer): PngFrame[] {
  const frames: PngFrame[] = [];
  let ticks = 0;
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const body = bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at));
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'fcTL') ticks = body.readUInt16BE(20);
    if (type === 'IDAT' || type === 'fdAT') {
      const rows = inflateSync(type === 'IDAT' ? body : body.subarray(4));
      const stride = CANVAS.width * 4;
      const pixels = Uint8Array.from({ length: stride * CANVAS.height }, (_, index) =>
        must(rows[Math.floor(index / stride) * (stride + 1) + 1 + (index % stride)], 'a byte of a row'),
      );
      frames.push({ ticks, pixels });
    }
  }
  return frames;
}

interface DecodedFrame {
  readonly seconds: number;
  readonly pixels: Uint8Array;
}

function decodeVideo(path: string, decoder: string): DecodedFrame[] {
  const input = new FormatContext();
  if (input.openInputSync(path) < 0) throw new Error(`cannot open ${path}`);
  const stream = must(input.streams[0], 'the video track');
  const codec = must(Codec.findDecoderByName(decoder as FFDecoderCodec) ?? undefined, 'the decoder');
  const context = new CodecContext();
  context.allocContext3(codec);
  context.parametersToContext(stream.codecpar);
  context.open2Sync(codec);
  const [packet, frame] = [new Packet(), new Frame()];
  packet.alloc();
  frame.alloc();
  const frames: DecodedFrame[] = [];
  const { timeBase } = stream;
  const receive = (): void => {
    while (context.receiveFrameSync(frame) >= 0) {
      frames.push({ seconds: (Number(frame.pts) * timeBase.num) / timeBase.den, pixels: toRgba(frame) });
    }
  };
  for (let result = 0; result !== AVERROR_EOF; ) {
    result = input.readFrameSync(packet);
    context.sendPacketSync(result < 0 ? null : packet);
    receive();
    packet.unref();
    if (result < 0) break;
  }
  input.closeInputSync();
  return frames;
}

function toRgba(frame: Frame): Uint8Array {
  const pixelFormat = must(avGetPixFmtName(frame.format as never) ?? undefined, 'the pixel format');
  const input = { ...CANVAS, pixelFormat, timeBase: { num: 1, den: 10 }, colorspace: 'bt709', range: 'tv' };
  const scale = {
    filter: 'scale',
    args: 'in_color_matrix=bt709:in_range=tv:out_range=pc:flags=accurate_rnd+full_chroma_int',
  };
  const graph = new VideoFilterGraph(input, [scale, { filter: 'format', args: 'pix_fmts=rgba' }], []);
  const rgba = new Frame();
  rgba.alloc();
  graph.push(frame);
  if (!graph.pull(rgba)) throw new Error('no frame');
  const [plane, stride] = [must(rgba.data?.[0], 'pixels'), must(rgba.linesize[0], 'the stride')];
  const pixels = new Uint8Array(CANVAS.width * CANVAS.height * 4);
  for (let row = 0; row < CANVAS.height; row += 1) {
    pixels.set(plane.subarray(row * stride, row * stride + CANVAS.width * 4), row * CANVAS.width * 4);
  }
  rgba.free();
  graph.free();
  return pixels;
}

/** The peak signal-to-noise ratio over black, where colors count as much as they are seen, and of alpha. */
function psnrOf(one: Uint8Array, other: Uint8Array): number {
  let squares = 0;
  for (let at = 0; at < one.length; at += 4) {
    const [alpha = 0, otherAlpha = 0] = [one[at + 3], other[at + 3]];
    squares += (alpha - otherAlpha) ** 2;
    for (let channel = 0; channel < 3; channel += 1) {
      squares += (((one[at + channel] ?? 0) * alpha - (other[at + channel] ?? 0) * otherAlpha) / 255) ** 2;
    }
  }
  return 10 * Math.log10(255 ** 2 / Math.max(squares / one.length, 1e-9));
}

describe('a transparent video', () => {
  it.each([undefined, true] as const)(
    'as APNG equals the drawn frames exactly, with the watermark: %s',
    async (watermark) => {
      const recipe = compose('apng', watermark);
      await renderClip(recipe, work.path('clip.apng'), tools);
      const frames = readApng(readFileSync(work.path('clip.apng')));
      expect(frames.map(({ ticks }) => ticks)).toEqual(STATES.map(([, ticks]) => ticks));
      for (const [index, [start]] of STATES.entries()) {
        expect(Buffer.compare(must(frames[index], 'the frame').pixels, await drawn(recipe, start))).toBe(0);
      }
    },
  );

  it('as WebM shows each state at its time, with alpha, and encodes it once', async () => {
    const recipe = compose('webm');
    await renderClip(recipe, work.path('clip.webm'), tools);
    const frames = decodeVideo(work.path('clip.webm'), 'libvpx-vp9');
    expect(frames.map(({ seconds }) => Math.round(seconds * 10))).toEqual(STATES.map(([start]) => start));
    for (const [index, [start]] of STATES.entries()) {
      expect(psnrOf(must(frames[index], 'the frame').pixels, await drawn(recipe, start))).toBeGreaterThan(34);
    }
  });

  it('as MOV has every frame, almost exactly', async () => {
    const recipe = compose('mov');
    await renderClip(recipe, work.path('clip.mov'), tools);
    const frames = decodeVideo(work.path('clip.mov'), 'prores');
    expect(frames.map(({ seconds }) => Math.round(seconds * 10))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for (const [index, { pixels }] of frames.entries()) {
      expect(psnrOf(pixels, await drawn(recipe, index))).toBeGreaterThan(45);
    }
  });

  it('has the limits of a video, and is refused when its file would be too large', () => {
    const clip =
      (seconds: number, fps: number, size = CANVAS) =>
      () =>
        composeClipRecipe(
          size,
          OVERLAYS,
          { videoSeconds: 30, videoSide: 1_000, videoFps: 30 },
          { format: 'mov', clip: { seconds, fps } },
        );
    expect(clip(31, 30)).toThrow('the limit is 30');
    expect(clip(5, 60)).toThrow('the limit is 30');
    expect(clip(5, 30, { width: 1_002, height: 500 })).toThrow('the limit is 1000 pixels per side');
    const large = { width: 1_920, height: 4_096 };
    const limits = { ...DEFAULT_VIDEO_LIMITS, outputBytes: 2_000_000_000 };
    expect(() => composeClipRecipe(large, OVERLAYS, limits, { format: 'mov', clip: { seconds: 60, fps: 60 } })).toThrow(
      'as estimated',
    );
  });
});
