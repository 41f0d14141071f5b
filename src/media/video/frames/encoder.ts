// The H.264 encoder: frames in, packets out.

import {
  AV_CODEC_FLAG_FRAME_DURATION,
  AV_CODEC_FLAG_GLOBAL_HEADER,
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

  /** `null` asks for the packets still inside. */
  send(frame: Frame | null): void {
    check(this.context.sendFrameSync(frame), 'encode');
  }

  receive(packet: Packet): boolean {
    const result = this.context.receivePacketSync(packet);
    if (result === AGAIN || result === AVERROR_EOF) return false;
    check(result, 'take encoded packet');
    return true;
  }

  free(): void {
    this.context.freeContext();
  }
}

export function openEncoderContext(name: string, prepare: (context: CodecContext) => void): CodecContext {
  const codec = Codec.findEncoderByName(name as FFEncoderCodec);
  if (codec === null) throw new Error(`this FFmpeg has no encoder ${name}`);
  const context = new CodecContext();
  context.allocContext3(codec);
  prepare(context);
  // MP4 keeps the codec's headers in one place.
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  check(context.open2Sync(codec), `open encoder ${name}`);
  return context;
}

export function openVideoEncoder(
  canvas: Size,
  settings: EncoderSettings,
  { timeBase, frameRate }: FrameTiming,
): Encoder {
  const context = openEncoderContext('libx264', (draft) => {
    draft.width = canvas.width;
    draft.height = canvas.height;
    draft.pixelFormat = AV_PIX_FMT_YUV420P;
    draft.timeBase = new Rational(timeBase.num, timeBase.den);
    draft.framerate = new Rational(frameRate.num, frameRate.den);
    draft.sampleAspectRatio = new Rational(1, 1);
    draft.colorSpace = AVCOL_SPC_BT709;
    draft.colorPrimaries = AVCOL_PRI_BT709;
    draft.colorTrc = AVCOL_TRC_BT709;
    draft.colorRange = AVCOL_RANGE_MPEG;
    draft.gopSize = settings.keyframeInterval;
    draft.rcMaxRate = BigInt(settings.maxRate);
    draft.rcBufferSize = settings.bufferSize;
    draft.threadCount = 0;
    // The last frame of a clip with uneven timing lasts as long as it did.
    draft.setFlags(AV_CODEC_FLAG_FRAME_DURATION);
    check(draft.setOption('preset', settings.preset), 'set preset');
    check(draft.setOption('crf', settings.crf), 'set quality');
    check(draft.setOption('profile', 'high'), 'set profile');
  });
  return new Encoder(context);
}

/** Where the source had its keyframes is no concern of the new stream. */
export function clearPictureType(frame: Frame): void {
  frame.pictType = AV_PICTURE_TYPE_NONE;
}
