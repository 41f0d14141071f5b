// The H.264 encoder, which turns frames into packets.

import {
  AV_CODEC_FLAG_FRAME_DURATION,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_CODEC_FLAG_PASS1,
  AV_CODEC_FLAG_PASS2,
  AV_PICTURE_TYPE_I,
  AV_PICTURE_TYPE_NONE,
  AV_PIX_FMT_YUV420P,
  AVCOL_PRI_BT709,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT709,
  AVCOL_TRC_BT709,
  AVERROR_EOF,
  type FFEncoderCodec,
} from 'node-av/constants';
import { Codec, CodecContext, type Frame, type Packet, Rational } from 'node-av/lib';
import type { Size } from '../../../layout/geometry.ts';
import { AGAIN, check } from '../probe/check.ts';
import type { EncoderSettings } from './encoding.ts';
import type { Ratio } from './geometry.ts';

interface FrameTiming {
  readonly timeBase: Ratio;
  readonly frameRate: Ratio;
}

export class Encoder {
  readonly context: CodecContext;

  constructor(context: CodecContext) {
    this.context = context;
  }

  /** `null` flushes the encoder. */
  send(frame: Frame | null): void {
    check(this.context.sendFrameSync(frame), 'encode frame');
  }

  receive(packet: Packet): boolean {
    const result = this.context.receivePacketSync(packet);
    if (result === AGAIN || result === AVERROR_EOF) return false;
    check(result, 'receive encoded packet');
    return true;
  }

  free(): void {
    this.context.freeContext();
  }
}

export function openEncoderContext(name: string, configure: (context: CodecContext) => void): CodecContext {
  const codec = Codec.findEncoderByName(name as FFEncoderCodec);
  if (codec === null) throw new Error(`this FFmpeg build has no ${name} encoder`);
  const context = new CodecContext();
  context.allocContext3(codec);
  configure(context);
  // MP4 stores the codec headers once, outside of the packets.
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  check(context.open2Sync(codec), `open encoder ${name}`);
  return context;
}

export function openVideoEncoder(
  canvas: Size,
  settings: EncoderSettings,
  { timeBase, frameRate }: FrameTiming,
): Encoder {
  const videoContext = openEncoderContext('libx264', (context) => {
    context.width = canvas.width;
    context.height = canvas.height;
    context.pixelFormat = AV_PIX_FMT_YUV420P;
    context.timeBase = new Rational(timeBase.num, timeBase.den);
    context.framerate = new Rational(frameRate.num, frameRate.den);
    context.sampleAspectRatio = new Rational(1, 1);
    context.colorSpace = AVCOL_SPC_BT709;
    context.colorPrimaries = AVCOL_PRI_BT709;
    context.colorTrc = AVCOL_TRC_BT709;
    context.colorRange = AVCOL_RANGE_MPEG;
    context.gopSize = settings.keyframeInterval;
    context.rcMaxRate = BigInt(settings.maxRate);
    context.rcBufferSize = settings.bufferSize;
    context.threadCount = 0;
    // Keeps the duration of the last frame in clips with a variable frame rate.
    context.setFlags(AV_CODEC_FLAG_FRAME_DURATION);
    check(context.setOption('preset', settings.preset), 'set preset');
    configureRate(context, settings);
    check(context.setOption('profile', 'high'), 'set profile');
  });
  return new Encoder(videoContext);
}

function configureRate(context: CodecContext, { crf, pass }: EncoderSettings): void {
  if (pass?.number === 2) {
    context.bitRate = BigInt(pass.bitRate);
    context.setFlags(AV_CODEC_FLAG_PASS2);
  } else {
    check(context.setOption('crf', crf), 'set crf');
  }
  if (pass === undefined) return;
  if (pass.number === 1) {
    context.setFlags(AV_CODEC_FLAG_PASS1);
    // The first pass may be the result, so it has the full quality.
    check(context.setOption('fastfirstpass', 0), 'set fastfirstpass');
  }
  check(context.setOption('stats', pass.statistics), 'set stats');
}

/** Otherwise the encoder would place keyframes where the source had them. */
export function clearPictureType(frame: Frame): void {
  frame.pictType = AV_PICTURE_TYPE_NONE;
}

export function requestKeyframe(frame: Frame): void {
  frame.pictType = AV_PICTURE_TYPE_I;
}
