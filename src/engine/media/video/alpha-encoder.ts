// Encodes transparent frames as WebM (VP9 with alpha) or MOV (ProRes 4444). A frame that doesn't change is encoded once: WebM
// shows it for longer, and MOV repeats its data, because editors expect every frame.

import {
  AV_LOG_QUIET,
  AV_PIX_FMT_RGBA,
  AV_PIX_FMT_YUVA420P,
  AV_PIX_FMT_YUVA444P10LE,
  AVCOL_PRI_BT709,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT709,
  AVCOL_TRC_BT709,
} from 'node-av/constants';
import { type CodecContext, Frame, Log, Packet, Rational } from 'node-av/lib';
import type { Size } from '../../layout/geometry.ts';
import { must } from '../../../shared/must.ts';
import { Encoder, openEncoderContext } from './frames/encoder.ts';
import { VideoFilterGraph } from './frames/graph.ts';
import { MediaOutput } from './output.ts';
import { check } from './probe/check.ts';

export type AlphaFormat = 'webm' | 'mov';

const TO_BT709 = 'out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+full_chroma_int';
const PIXEL_FORMATS = { webm: 'yuva420p', mov: 'yuva444p10le' } as const;

export class AlphaEncoder {
  readonly #format: AlphaFormat;
  readonly #canvas: Size;
  readonly #timeBase: { readonly num: number; readonly den: number };
  readonly #encoder: Encoder;
  readonly #output: MediaOutput;
  readonly #track: number;
  readonly #graph: VideoFilterGraph;
  readonly #converted = new Frame();
  readonly #packet = new Packet();
  /** The frames whose packets the encoder holds back. */
  readonly #pending: { readonly start: number; readonly ticks: number }[] = [];

  constructor(path: string, format: AlphaFormat, canvas: Size, fps: number) {
    Log.setLevel(AV_LOG_QUIET);
    this.#format = format;
    this.#canvas = canvas;
    this.#timeBase = { num: 1, den: fps };
    this.#encoder = new Encoder(openEncoderContext(...encoderOf(format, canvas, fps)));
    this.#output = new MediaOutput(path, format);
    this.#track = this.#output.addEncodedTrack(this.#encoder);
    const input = { ...canvas, pixelFormat: 'rgba', timeBase: this.#timeBase, colorspace: 'gbr', range: 'pc' };
    this.#graph = new VideoFilterGraph(
      input,
      [
        { filter: 'scale', args: TO_BT709 },
        { filter: 'format', args: `pix_fmts=${PIXEL_FORMATS[format]}` },
      ],
      [],
    );
    for (const buffer of [this.#converted, this.#packet]) buffer.alloc();
    this.#output.writeHeader();
  }

  /** Adds straight RGBA pixels, which are shown from tick `start` on, for `ticks` ticks. */
  add(pixels: Uint8Array, start: number, ticks: number): void {
    const buffer = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.byteLength);
    const frame = Frame.fromVideoBuffer(buffer, {
      ...this.#canvas,
      format: AV_PIX_FMT_RGBA,
      timeBase: this.#timeBase,
      pts: BigInt(start),
    });
    try {
      this.#graph.push(frame);
      if (!this.#graph.pull(this.#converted)) throw new Error('the filters returned no frame');
      this.#converted.pts = BigInt(start);
      this.#converted.duration = BigInt(ticks);
      this.#encoder.send(this.#converted);
      this.#converted.unref();
      this.#pending.push({ start, ticks });
      this.#writePackets();
    } finally {
      frame.free();
    }
  }

  finish(): void {
    this.#encoder.send(null);
    this.#writePackets();
    this.#output.finish();
  }

  free(): void {
    this.#graph.free();
    this.#encoder.free();
    this.#output.close();
    for (const buffer of [this.#converted, this.#packet]) buffer.free();
  }

  /** Packets come in the order of the frames. */
  #writePackets(): void {
    while (this.#encoder.receive(this.#packet)) {
      const { start, ticks } = must(this.#pending.shift(), 'the frame of a packet');
      if (this.#format === 'webm') {
        this.#writeOnce(this.#packet, BigInt(start), BigInt(ticks));
        continue;
      }
      for (let tick = start; tick < start + ticks; tick += 1) {
        const copy = must(this.#packet.clone(), 'the copy of a packet');
        this.#writeOnce(copy, BigInt(tick), 1n);
        copy.free();
      }
      this.#packet.unref();
    }
  }

  #writeOnce(packet: Packet, pts: bigint, duration: bigint): void {
    packet.pts = pts;
    packet.dts = pts;
    packet.duration = duration;
    this.#output.write(packet, this.#track, this.#timeBase);
  }
}

function encoderOf(
  format: AlphaFormat,
  { width, height }: Size,
  fps: number,
): [name: string, configure: (context: CodecContext) => void] {
  const configure = (context: CodecContext): void => {
    context.width = width;
    context.height = height;
    context.timeBase = new Rational(1, fps);
    context.framerate = new Rational(fps, 1);
    context.sampleAspectRatio = new Rational(1, 1);
    context.colorSpace = AVCOL_SPC_BT709;
    context.colorPrimaries = AVCOL_PRI_BT709;
    context.colorTrc = AVCOL_TRC_BT709;
    context.colorRange = AVCOL_RANGE_MPEG;
    context.threadCount = 0;
    context.pixelFormat = format === 'webm' ? AV_PIX_FMT_YUVA420P : AV_PIX_FMT_YUVA444P10LE;
    for (const [name, value] of Object.entries(OPTIONS[format])) check(context.setOption(name, value), `set ${name}`);
    if (format === 'webm') context.bitRate = 0n;
  };
  return [format === 'webm' ? 'libvpx-vp9' : 'prores_ks', configure];
}

/** Alternate reference frames and frames that are held back don't work with alpha. */
const OPTIONS: Readonly<Record<AlphaFormat, Readonly<Record<string, string | number>>>> = {
  webm: { crf: 16, deadline: 'good', 'cpu-used': 4, 'auto-alt-ref': 0, 'lag-in-frames': 0, 'row-mt': 1 },
  mov: { profile: '4444', alpha_bits: 16, vendor: 'apl0' },
};
