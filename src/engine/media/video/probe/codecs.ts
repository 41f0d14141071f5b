// The decoders that may run, and what the linked FFmpeg build offers. This is an allowlist: FFmpeg decodes several
// hundred formats, and an attacker needs a vulnerability in only one of them.

import type { FFDecoderCodec, FFEncoderCodec } from 'node-av/constants';
import { Codec, Filter, getFFmpegInfo } from 'node-av/lib';
import { ALLOWED_DECODERS, ALPHA_DECODERS, AUDIO_DECODERS, VIDEO_DECODERS } from './decoders.ts';

export function videoDecoderFor(codec: string, alpha: boolean): string | undefined {
  const candidates = (alpha ? ALPHA_DECODERS[codec] : undefined) ?? VIDEO_DECODERS[codec] ?? [];
  return candidates.find(isDecoder);
}

export function audioDecoderFor(codec: string): string | undefined {
  return AUDIO_DECODERS[codec]?.find(isDecoder);
}

function isDecoder(name: string): boolean {
  return findDecoder(name) !== undefined;
}

export function findDecoder(name: string): Codec | undefined {
  return Codec.findDecoderByName(name as FFDecoderCodec) ?? undefined;
}

export interface CodecInfo {
  readonly ffmpeg: string;
  /** Maps codecs and filters that renders use to whether this FFmpeg build has them. */
  readonly available: Readonly<Record<string, boolean>>;
}

const ENCODERS = ['libx264', 'aac'] as const;
const FILTERS = [
  'overlay',
  'scale',
  'colorspace',
  'tonemapx',
  'transpose',
  'bwdif',
  'premultiply',
  'aresample',
] as const;

/** Describes the video support of this installation, for `storybar doctor` and the health endpoint. */
export function codecInfo(): CodecInfo {
  const decoders = ALLOWED_DECODERS.filter((name) => !name.startsWith('pcm_'));
  const available = [
    ...ENCODERS.map((name) => [`encode ${name}`, Codec.findEncoderByName(name as FFEncoderCodec) !== null]),
    ...decoders.map((name) => [`decode ${name}`, isDecoder(name)]),
    ...FILTERS.map((name) => [`filter ${name}`, Filter.getByName(name) !== null]),
  ];
  return { ffmpeg: getFFmpegInfo().version, available: Object.fromEntries(available) };
}
