// A clip for machines without sample media: the camera moves over a photo of the repository, with the grain of a phone's
// sensor. Grain makes a clip expensive, because no frame can be predicted well from the one before.

import path from 'node:path';
import { AV_CODEC_FLAG_GLOBAL_HEADER, AV_LOG_QUIET, AV_PIX_FMT_YUV420P, type FFEncoderCodec } from 'node-av/constants';
import { Codec, CodecContext, FormatContext, Frame, Log, Packet, Rational } from 'node-av/lib';
import sharp from 'sharp';
import type { Size } from '../../src/engine/layout/geometry.ts';

const PHOTO = path.join(import.meta.dirname, '../../examples/photo.jpg');
/** How much larger than a frame the photo is. */
const ROOM = 1.25;
const BLACK_LEVEL = 16;
const LUMA_RANGE = 219;

export interface OwnClip extends Size {
  readonly frameRate: number;
  readonly seconds: number;
  /** The largest deviation by grain, in levels of 255. */
  readonly grain: number;
  /** The encoded seconds are repeated this many times. */
  readonly repeats: number;
}

export async function makeOwnClip(file: string, clip: OwnClip): Promise<string> {
  Log.setLevel(AV_LOG_QUIET);
  const encoder = openEncoder(clip);
  const packets = await encodePackets(encoder, clip);
  const output = new FormatContext();
  output.allocOutputContext2(null, 'mp4', file);
  const track = output.newStream();
  track.codecpar.fromContext(encoder);
  track.timeBase = encoder.timeBase;
  output.openOutputSync();
  output.writeHeaderSync();
  const repeated = Array.from({ length: clip.repeats }, () => packets).flat();
  for (const [index, { data, isKeyframe }] of repeated.entries()) {
    const packet = new Packet();
    packet.alloc();
    Object.assign(packet, { data, isKeyframe, duration: 1n, streamIndex: track.index });
    packet.pts = BigInt(index);
    packet.dts = BigInt(index);
    packet.rescaleTs(encoder.timeBase, track.timeBase);
    output.interleavedWriteFrameSync(packet);
    packet.free();
  }
  output.writeTrailerSync();
  output.closeOutputSync();
  encoder.freeContext();
  return file;
}

interface EncodedFrame {
  readonly data: Buffer;
  readonly isKeyframe: boolean;
}

async function encodePackets(encoder: CodecContext, clip: OwnClip): Promise<EncodedFrame[]> {
  const [width, height] = [even(clip.width * ROOM), even(clip.height * ROOM)];
  const photo = await sharp(PHOTO).resize(width, height, { fit: 'cover' }).toColorspace('b-w').raw().toBuffer();
  const luma = photo.map((level) => BLACK_LEVEL + (level * LUMA_RANGE) / 255);
  const grain = grainOf(clip.width * clip.height, clip.grain);
  const packets: EncodedFrame[] = [];
  const encode = (frame: Frame | null): void => {
    encoder.sendFrameSync(frame);
    const packet = new Packet();
    packet.alloc();
    while (encoder.receivePacketSync(packet) >= 0) {
      packets.push({ data: Buffer.from(packet.data ?? []), isKeyframe: packet.isKeyframe });
      packet.unref();
    }
    packet.free();
  };
  const frames = clip.seconds * clip.frameRate;
  for (let index = 0; index < frames; index += 1) {
    const progress = index / frames;
    const left = Math.round((width - clip.width) * progress);
    const top = Math.round((height - clip.height) * (1 - progress));
    const planes = planesOf(clip, {
      luma,
      grain,
      width,
      start: top * width + left,
      shift: (index * 7_919) % MAX_SHIFT,
    });
    const size = { width: clip.width, height: clip.height };
    const timing = { pts: BigInt(index), timeBase: encoder.timeBase };
    const frame = Frame.fromVideoBuffer(planes, { ...size, ...timing, format: AV_PIX_FMT_YUV420P });
    encode(frame);
    frame.free();
  }
  encode(null);
  return packets;
}

function even(side: number): number {
  return 2 * Math.round(side / 2);
}

/** Every frame has the grain from another place on. */
const MAX_SHIFT = 65_521;

/** The same noise in every run, from a linear congruential generator. */
function grainOf(length: number, deviation: number): Int8Array {
  let state = 1;
  return Int8Array.from({ length: length + MAX_SHIFT }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.round((state / 2 ** 31 - 1) * deviation);
  });
}

interface Window {
  readonly luma: Uint8Array;
  readonly grain: Int8Array;
  readonly width: number;
  readonly start: number;
  readonly shift: number;
}

function planesOf({ width, height }: Size, window: Window): Buffer {
  const planes = Buffer.alloc((width * height * 3) / 2, 128);
  for (let y = 0, to = 0; y < height; y += 1) {
    for (let x = 0, from = window.start + y * window.width; x < width; x += 1, from += 1, to += 1) {
      const level = (window.luma[from] ?? 0) + (window.grain[to + window.shift] ?? 0);
      planes[to] = level < BLACK_LEVEL ? BLACK_LEVEL : level > 235 ? 235 : level;
    }
  }
  return planes;
}

function openEncoder({ width, height, frameRate }: OwnClip): CodecContext {
  const codec = Codec.findEncoderByName('libx264' as FFEncoderCodec);
  const context = new CodecContext();
  context.allocContext3(codec);
  context.width = width;
  context.height = height;
  context.pixelFormat = AV_PIX_FMT_YUV420P;
  context.timeBase = new Rational(1, frameRate);
  context.framerate = new Rational(frameRate, 1);
  context.gopSize = frameRate;
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  // Like a camera: fast, with a high bit rate, and without frames out of order.
  for (const [name, value] of Object.entries({ preset: 'ultrafast', crf: '20', bf: '0' }))
    context.setOption(name, value);
  context.open2Sync(codec);
  return context;
}
