// Creates small clips with known pixels and timestamps, and reads rendered clips. Real files cover the output of
// cameras, and these clips cover the cases that real files don't.

import {
  AV_CODEC_FLAG_FRAME_DURATION,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_DISPOSITION_DEFAULT,
  AV_LOG_QUIET,
  AV_SAMPLE_FMT_FLTP,
  AV_SAMPLE_FMT_S16,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
  AVCOL_SPC_BT709,
  AVCOL_PRI_BT709,
  AVCOL_RANGE_MPEG,
  AVCOL_TRC_BT709,
  type AVColorPrimaries,
  type AVColorRange,
  type AVColorSpace,
  type AVColorTransferCharacteristic,
  type FFEncoderCodec,
} from 'node-av/constants';
import {
  avChannelLayoutDefault,
  avGetCodecName,
  avGetPixFmtFromName,
  Codec,
  CodecContext,
  FormatContext,
  Frame,
  Log,
  Packet,
  Rational,
  type Stream,
} from 'node-av/lib';

/** Returns the value of one sample of a plane, in the value range of the pixel format. */
export type Paint = (plane: number, x: number, y: number, frame: number) => number;

export interface ClipOptions {
  readonly path: string;
  readonly container: 'mp4' | 'mov' | 'webm' | 'matroska';
  readonly codec: string;
  readonly pixelFormat: string;
  readonly width: number;
  readonly height: number;
  readonly paint: Paint;
  /** If true, all frames are like the first one, which saves the time to paint them. */
  readonly isStill?: boolean;
  readonly frames?: number;
  readonly timeBase?: { readonly num: number; readonly den: number };
  /** Timestamps in ticks of the time base; evenly spaced by default. */
  readonly pts?: readonly number[];
  readonly tags?:
    | {
        readonly space: AVColorSpace;
        readonly primaries: AVColorPrimaries;
        readonly transfer: AVColorTransferCharacteristic;
        readonly range: AVColorRange;
      }
    | undefined;
  readonly encoderOptions?: Readonly<Record<string, string>>;
  readonly muxerOptions?: Readonly<Record<string, string>>;
  readonly audio?: ClipAudio;
  /** A second audio track, which alone is flagged as the default. */
  readonly defaultAudio?: ClipAudio;
}

interface ClipAudio {
  readonly codec: string;
  readonly seconds: number;
  readonly sampleRate: number;
  /** The amplitude at a time in seconds, up to 1. Default: 0.5. */
  readonly amplitude?: (seconds: number) => number;
}

export const PLAIN_TAGS = {
  space: AVCOL_SPC_BT709,
  primaries: AVCOL_PRI_BT709,
  transfer: AVCOL_TRC_BT709,
  range: AVCOL_RANGE_MPEG,
} as const;

const BEEP_HERTZ = 440;

function check(result: number): number {
  if (result < 0) throw new Error(`FFmpeg returned ${result} for a test clip`);
  return result;
}

export function makeClip(options: ClipOptions): void {
  Log.setLevel(AV_LOG_QUIET);
  const output = new FormatContext();
  check(output.allocOutputContext2(null, options.container, options.path));
  for (const [name, value] of Object.entries(options.muxerOptions ?? {})) check(output.setOption(name, value));
  const videoEncoder = openVideoEncoder(options);
  const videoTrack = addTrack(output, videoEncoder);
  const sounds = [options.audio, options.defaultAudio].flatMap((audio) => {
    if (audio === undefined) return [];
    const encoder = openAudioEncoder(audio);
    return [{ audio, encoder, track: addTrack(output, encoder) }];
  });
  if (options.defaultAudio) {
    for (const { audio, track } of sounds) {
      if (audio === options.defaultAudio) track.setDisposition(AV_DISPOSITION_DEFAULT);
      else track.clearDisposition(AV_DISPOSITION_DEFAULT);
    }
  }
  check(output.openOutputSync());
  check(output.writeHeaderSync());
  for (const { audio, encoder, track } of sounds) encodeAudio(output, encoder, track, audio);
  encodeVideo(output, videoEncoder, videoTrack, options);
  check(output.writeTrailerSync());
  output.closeOutputSync();
  output.freeContext();
}

function openVideoEncoder(options: ClipOptions): CodecContext {
  const codec = Codec.findEncoderByName(options.codec as FFEncoderCodec);
  const context = new CodecContext();
  context.allocContext3(codec);
  const { num, den } = options.timeBase ?? { num: 1, den: 30 };
  context.width = options.width;
  context.height = options.height;
  context.pixelFormat = avGetPixFmtFromName(options.pixelFormat);
  context.timeBase = new Rational(num, den);
  context.framerate = new Rational(30, 1);
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER, AV_CODEC_FLAG_FRAME_DURATION);
  const tags = options.tags;
  if (tags) {
    context.colorSpace = tags.space;
    context.colorPrimaries = tags.primaries;
    context.colorTrc = tags.transfer;
    context.colorRange = tags.range;
  }
  for (const [name, value] of Object.entries(options.encoderOptions ?? {})) check(context.setOption(name, value));
  check(context.open2Sync(codec));
  return context;
}

function openAudioEncoder({ codec: name, sampleRate }: ClipAudio): CodecContext {
  const codec = Codec.findEncoderByName(name as FFEncoderCodec);
  const context = new CodecContext();
  context.allocContext3(codec);
  context.sampleRate = sampleRate;
  context.sampleFormat = name === 'aac' || name === 'libmp3lame' ? AV_SAMPLE_FMT_FLTP : AV_SAMPLE_FMT_S16;
  context.channelLayout = avChannelLayoutDefault(1);
  context.timeBase = new Rational(1, sampleRate);
  if (!name.startsWith('pcm')) context.bitRate = 96_000n;
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  check(context.open2Sync(codec));
  return context;
}

function addTrack(output: FormatContext, context: CodecContext): Stream {
  const stream = output.newStream();
  check(stream.codecpar.fromContext(context));
  stream.timeBase = context.timeBase;
  return stream;
}

function encodeVideo(output: FormatContext, context: CodecContext, track: Stream, options: ClipOptions): void {
  const count = options.pts?.length ?? options.frames ?? 6;
  const still = options.isStill ? paintFrame(options, 0) : undefined;
  for (let index = 0; index < count; index += 1) {
    const frame = Frame.fromVideoBuffer(still ?? paintFrame(options, index), {
      width: options.width,
      height: options.height,
      format: avGetPixFmtFromName(options.pixelFormat),
      pts: BigInt(options.pts?.[index] ?? index),
      timeBase: context.timeBase,
    });
    // Without a duration, the index would end before the last frame.
    frame.duration = BigInt(
      (options.pts?.[index + 1] ?? (options.pts?.[index] ?? index) + 1) - (options.pts?.[index] ?? index),
    );
    if (options.tags) {
      frame.colorSpace = options.tags.space;
      frame.colorRange = options.tags.range;
    }
    drain(output, context, track, frame);
    frame.free();
  }
  drain(output, context, track, null);
  context.freeContext();
}

const PLANAR = /^(?<kind>yuva?|gbr)(?:j)?(?<sampling>420|422|444)?p(?<deep>10le)?$/u;

function paintFrame({ pixelFormat, width, height, paint }: ClipOptions, frame: number): Buffer {
  const { kind, sampling, deep } = PLANAR.exec(pixelFormat)?.groups ?? {};
  const halfWidth = sampling === '420' || sampling === '422' ? 2 : 1;
  const halfHeight = sampling === '420' ? 2 : 1;
  const planes = kind === 'yuva' ? 4 : 3;
  const chunks = Array.from({ length: planes }, (_, plane) => {
    const chroma = kind !== 'gbr' && (plane === 1 || plane === 2);
    const [stepX, stepY] = chroma ? [halfWidth, halfHeight] : [1, 1];
    const [columns, rows] = [Math.ceil(width / stepX), Math.ceil(height / stepY)];
    const buffer = Buffer.alloc(columns * rows * (deep ? 2 : 1));
    for (let y = 0; y < rows; y += 1) {
      for (let x = 0; x < columns; x += 1) {
        const value = Math.round(paint(plane, x * stepX, y * stepY, frame));
        if (deep) buffer.writeUInt16LE(value, (y * columns + x) * 2);
        else buffer[y * columns + x] = value;
      }
    }
    return buffer;
  });
  return Buffer.concat(chunks);
}

/** A tone of a constant pitch. */
function encodeAudio(
  output: FormatContext,
  context: CodecContext,
  track: Stream,
  { seconds, sampleRate, amplitude = () => 0.5 }: ClipAudio,
): void {
  const size = context.frameSize > 0 ? context.frameSize : 1_024;
  const isFloat = context.sampleFormat === AV_SAMPLE_FMT_FLTP;
  for (let at = 0; at + size <= seconds * sampleRate; at += size) {
    const buffer = Buffer.alloc(size * (isFloat ? 4 : 2));
    for (let index = 0; index < size; index += 1) {
      const value =
        amplitude((at + index) / sampleRate) * Math.sin((2 * Math.PI * BEEP_HERTZ * (at + index)) / sampleRate);
      if (isFloat) buffer.writeFloatLE(value, index * 4);
      else buffer.writeInt16LE(Math.round(value * 32_767), index * 2);
    }
    const frame = Frame.fromAudioBuffer(buffer, {
      nbSamples: size,
      format: context.sampleFormat,
      sampleRate,
      channelLayout: avChannelLayoutDefault(1),
      pts: BigInt(at),
      timeBase: { num: 1, den: sampleRate },
    });
    drain(output, context, track, frame);
    frame.free();
  }
  drain(output, context, track, null);
  context.freeContext();
}

function drain(output: FormatContext, context: CodecContext, track: Stream, frame: Frame | null): void {
  check(context.sendFrameSync(frame));
  const packet = new Packet();
  packet.alloc();
  while (context.receivePacketSync(packet) >= 0) {
    packet.streamIndex = track.index;
    packet.rescaleTs(context.timeBase, track.timeBase);
    check(output.interleavedWriteFrameSync(packet));
  }
  packet.free();
}

interface ReadFrame {
  readonly seconds: number;
  /** The color of a pixel, read as BT.709 limited range. */
  rgb(x: number, y: number): readonly [number, number, number];
}

export interface ReadClip {
  readonly width: number;
  readonly height: number;
  readonly codec: string;
  readonly tags: readonly [number, number, number, number];
  readonly seconds: number;
  readonly frames: readonly ReadFrame[];
  readonly audio: { readonly codec: string; readonly packets: readonly Buffer[]; readonly start: number } | undefined;
  readonly streams: number;
}

/** Decodes every frame like a player, with the demuxer that FFmpeg selects. Keeps the pixels of the first frames. */
export function readClip(path: string, keepFrames = 8): ReadClip {
  const input = new FormatContext();
  check(input.openInputSync(path));
  check(input.findStreamInfoSync());
  const video = input.streams.find(({ codecpar }) => codecpar.codecType === AVMEDIA_TYPE_VIDEO);
  const audio = input.streams.find(({ codecpar }) => codecpar.codecType === AVMEDIA_TYPE_AUDIO);
  if (!video) throw new Error('the file has no video track');
  const codec = Codec.findDecoder(video.codecpar.codecId);
  const context = new CodecContext();
  context.allocContext3(codec);
  check(context.parametersToContext(video.codecpar));
  context.pktTimebase = video.timeBase;
  check(context.open2Sync(codec));
  const frames: ReadFrame[] = [];
  const audioPackets: Buffer[] = [];
  let start = 0;
  const packet = new Packet();
  packet.alloc();
  while (input.readFrameSync(packet) >= 0) {
    if (packet.streamIndex === video.index) check(context.sendPacketSync(packet));
    if (packet.streamIndex === audio?.index) {
      if (audioPackets.length === 0) start = Number(packet.pts) * audio.timeBase.toDouble();
      audioPackets.push(Buffer.from(packet.data ?? []));
    }
    packet.unref();
    receiveFrames(context, video, frames, keepFrames);
  }
  context.sendPacketSync(null);
  receiveFrames(context, video, frames, keepFrames);
  const { width, height, colorSpace, colorPrimaries, colorTrc, colorRange, codecId } = video.codecpar;
  const result: ReadClip = {
    width,
    height,
    codec: avGetCodecName(codecId) ?? '',
    tags: [colorSpace, colorPrimaries, colorTrc, colorRange],
    seconds: Number(input.duration) / 1e6,
    frames,
    audio: audio && { codec: avGetCodecName(audio.codecpar.codecId) ?? '', packets: audioPackets, start },
    streams: input.nbStreams,
  };
  packet.free();
  context.freeContext();
  input.closeInputSync();
  return result;
}

function receiveFrames(context: CodecContext, stream: Stream, frames: ReadFrame[], keep: number): void {
  const frame = new Frame();
  frame.alloc();
  while (context.receiveFrameSync(frame) >= 0) {
    const seconds = Number(frame.bestEffortTimestamp) * stream.timeBase.toDouble();
    const { width, height } = frame;
    const bytes = frames.length < keep ? frame.toBuffer() : undefined;
    frames.push({ seconds, rgb: (x, y) => rgbAt(bytes, width, height, x, y) });
    frame.unref();
  }
  frame.free();
}

function rgbAt(bytes: Buffer | undefined, width: number, height: number, x: number, y: number) {
  if (!bytes) throw new Error('the pixels of this frame were not kept');
  const half = Math.ceil(width / 2);
  const luma = bytes[Math.floor(y) * width + Math.floor(x)] ?? 0;
  const chromaAt = Math.floor(y / 2) * half + Math.floor(x / 2);
  const blue = bytes[width * height + chromaAt] ?? 0;
  const red = bytes[width * height + half * Math.ceil(height / 2) + chromaAt] ?? 0;
  const level = (luma - 16) / 219;
  const [u, v] = [(blue - 128) / 224, (red - 128) / 224];
  const rgb = [level + 1.5748 * v, level - 0.1873 * u - 0.4681 * v, level + 1.8556 * u];
  return rgb.map((value) => Math.round(Math.min(1, Math.max(0, value)) * 255)) as [number, number, number];
}
