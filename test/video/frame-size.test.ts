import { AV_CODEC_ID_H264, AV_LOG_QUIET } from 'node-av/constants';
import { FormatContext, Log, Packet } from 'node-av/lib';
import { afterAll, describe, expect, it } from 'vitest';
import { vp9FrameSize } from '../../src/engine/media/video/probe/vp9-frame-size.ts';
import { must } from '../../src/shared/must.ts';
import { hasSharedMedia, sharedMedia } from '../shared-media.ts';
import { BLUE, BT709, distance, paintYuv, RED, type Rgb } from './painting.ts';
import { plainClip } from './plain-clip.ts';
import { renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

const SECONDS = 2;
const FRAMES = SECONDS * 10;
const BLACK: Rgb = [0, 0, 0];
const CAPTION = [{ text: 'Hi', position: 100 }];

/** Returns a WebM whose frames have one size after the other, as in the recording of a browser call. */
function callOf(codec: string, sizes: readonly (readonly [width: number, height: number, color: Rgb])[]): string {
  const parts = sizes.map(([width, height, color], index) =>
    plainClip(work.path(`${codec}-${index}.webm`), {
      container: 'matroska',
      codec,
      width,
      height,
      frames: FRAMES,
      timeBase: { num: 1, den: 10 },
      isStill: true,
      paint: paintYuv(() => color, BT709),
      encoderOptions:
        codec === 'libx264' ? { preset: 'ultrafast', 'x264-params': 'bframes=0' } : { deadline: 'realtime' },
    }),
  );
  return joined(parts, work.path(`${codec}.webm`));
}

/** Writes the packets of one clip after those of the other, into a track with the header of the first. */
function joined(paths: readonly string[], path: string): string {
  Log.setLevel(AV_LOG_QUIET);
  const inputs = paths.map((each) => {
    const input = new FormatContext();
    expect(input.openInputSync(each)).toBe(0);
    return input;
  });
  const output = new FormatContext();
  output.allocOutputContext2(null, 'matroska', path);
  const [first] = must(inputs[0], 'the first clip').streams;
  const { codecpar, timeBase } = must(first, 'its track');
  const track = output.newStream();
  codecpar.copy(track.codecpar);
  track.timeBase = timeBase;
  output.openOutputSync();
  output.writeHeaderSync();
  const packet = new Packet();
  packet.alloc();
  for (const [index, input] of inputs.entries()) {
    while (input.readFrameSync(packet) >= 0) {
      const start = BigInt(index * SECONDS * 1_000);
      packet.pts += start;
      packet.dts = packet.pts;
      if (packet.isKeyframe) packet.data = Buffer.concat([parametersIn(input), must(packet.data, 'a frame')]);
      packet.rescaleTs(timeBase, track.timeBase);
      expect(output.interleavedWriteFrameSync(packet)).toBe(0);
    }
    input.closeInputSync();
  }
  packet.free();
  output.writeTrailerSync();
  output.closeOutputSync();
  return path;
}

/** Returns the parameter sets of H.264, which calls repeat at each keyframe. Other codecs of this test have none. */
function parametersIn({ streams: [track] }: FormatContext): Buffer {
  const record = track?.codecpar.extradata;
  if (!record || track?.codecpar.codecId !== AV_CODEC_ID_H264) return Buffer.alloc(0);
  const [countAt, lengthAt] = [5, 6];
  expect(must(record[countAt], 'the number of sequence parameter sets') & 31).toBe(1);
  const sequence = record.subarray(lengthAt + 2, lengthAt + 2 + record.readUInt16BE(lengthAt));
  const pictureAt = lengthAt + 2 + sequence.length + 1;
  const picture = record.subarray(pictureAt + 2, pictureAt + 2 + record.readUInt16BE(pictureAt));
  return Buffer.concat([sequence, picture].flatMap((set) => [Buffer.from([0, 0, 0, set.length]), set]));
}

describe('a video whose frame size changes', () => {
  it.each(['libvpx', 'libvpx-vp9', 'libx264'])(
    'a video in %s whose frames grow and turn is rendered at the largest size, and all frames fit into it',
    async (codec) => {
      const path = callOf(codec, [
        [96, 64, RED],
        [192, 128, BLUE],
        [64, 96, RED],
      ]);
      const { probe, clip } = await renderClip(path, work.path('grown.mp4'), CAPTION);
      expect([probe.width, probe.height]).toEqual([192, 128]);
      expect([clip.width, clip.height, clip.seconds]).toEqual([192, 128, 3 * SECONDS]);
    },
  );

  it('smaller frames are scaled to the largest size, and black beside them fills other shapes', async () => {
    const path = callOf('libvpx', [
      [64, 96, RED],
      [192, 128, BLUE],
    ]);
    const { clip } = await renderClip(path, work.path('padded.mp4'), CAPTION);
    const first = must(clip.frames[0], 'the first frame');
    // A frame of 2:3 that is 128 pixels high covers 85 of 192 columns.
    for (const [x, color] of [
      [20, BLACK],
      [96, RED],
      [170, BLACK],
    ] as const) {
      expect([x, distance(first.rgb(x, 20), color) < 24]).toEqual([x, true]);
    }
  });

  it.skipIf(!hasSharedMedia)('a real clip that shrinks keeps its size (skipped without ../shared/media)', async () => {
    const path = sharedMedia('video_webm/wpt__400x300-red-resize-200x150-green.webm');
    const { clip } = await renderClip(path, work.path('shrunk.mp4'), CAPTION);
    expect([clip.width, clip.height]).toEqual([400, 300]);
  });
});

describe('the header of a VP9 frame', () => {
  /** Returns the bytes of fields, each as a value and its number of bits. */
  function bytesOf(...fields: readonly (readonly [value: number, bits: number])[]): Uint8Array {
    const bits = fields.map(([value, count]) => value.toString(2).padStart(count, '0')).join('');
    const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0');
    return Uint8Array.from({ length: padded.length / 8 }, (_, at) =>
      Number.parseInt(padded.slice(at * 8, at * 8 + 8), 2),
    );
  }

  const size = [
    [1_279, 16],
    [719, 16],
  ] as const;
  const marker = [0b10_00_0, 5] as const;
  const interFrame = [[0b110, 3] as const, [0, 2] as const, [1, 8] as const, [0, 12] as const] as const;

  it('a frame between keyframes can announce a new size', () => {
    expect(vp9FrameSize(bytesOf(marker, ...interFrame, [0b000, 3], ...size))).toEqual({ width: 1_280, height: 720 });
  });

  it('a frame with the size of an earlier one announces none', () => {
    expect(vp9FrameSize(bytesOf(marker, ...interFrame, [0b001, 3], ...size))).toBeUndefined();
    expect(vp9FrameSize(bytesOf([0b10_00_1, 5], [3, 3]))).toBeUndefined();
  });

  it('keyframes and intra-only frames of all profiles announce their size', () => {
    const sync = [0x49_83_42, 24] as const;
    const expected = { width: 1_280, height: 720 };
    expect(vp9FrameSize(bytesOf(marker, [0b010, 3], sync, [0b001_0, 4], ...size))).toEqual(expected);
    expect(vp9FrameSize(bytesOf([0b10_10_0, 5], [0b010, 3], sync, [0b001_0_110, 7], ...size))).toEqual(expected);
    expect(vp9FrameSize(bytesOf([0b10_01_0, 5], [0b010, 3], sync, [0b0_001_0, 5], ...size))).toEqual(expected);
    expect(vp9FrameSize(bytesOf([0b10_11_0_0, 6], [0b010, 3], sync, [0b0_111_0, 5], ...size))).toEqual(expected);
    expect(vp9FrameSize(bytesOf(marker, [0b100, 3], [1, 1], [0, 2], sync, [255, 8], ...size))).toEqual(expected);
  });

  it('a truncated or foreign header announces no size', () => {
    const header = bytesOf(marker, [0b010, 3], [0x49_83_42, 24], [0b001_0, 4], ...size);
    for (let length = 0; length < header.length; length += 1) {
      expect(vp9FrameSize(header.subarray(0, length))).toBeUndefined();
    }
    expect(vp9FrameSize(Uint8Array.from({ length: 24 }, () => 0))).toBeUndefined();
  });
});
