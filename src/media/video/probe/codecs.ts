// The decoders that may run, and what the linked FFmpeg build offers. This is an allowlist: FFmpeg decodes several
// hundred formats, and an attacker needs a vulnerability in only one of them.

import type { FFDecoderCodec, FFEncoderCodec } from 'node-av/constants';
import { Codec, Filter, getFFmpegInfo } from 'node-av/lib';

/** FFmpeg's codec name -> the decoders to use, best first. */
const VIDEO_DECODERS: Readonly<Record<string, readonly string[]>> = {
  h264: ['h264'],
  hevc: ['hevc'],
  av1: ['libdav1d'],
  vp8: ['vp8'],
  vp9: ['vp9'],
  mpeg4: ['mpeg4'],
  h263: ['h263'],
  mpeg1video: ['mpeg1video'],
  mpeg2video: ['mpeg2video'],
  mjpeg: ['mjpeg'],
  prores: ['prores'],
  dnxhd: ['dnxhd'],
  qtrle: ['qtrle'],
  png: ['png'],
  rawvideo: ['rawvideo'],
  v210: ['v210'],
};

/** Only these decoders read the alpha layer of a WebM. */
const ALPHA_DECODERS: Readonly<Record<string, readonly string[]>> = { vp8: ['libvpx'], vp9: ['libvpx-vp9'] };

const AUDIO_DECODERS: Readonly<Record<string, readonly string[]>> = {
  aac: ['aac'],
  mp3: ['mp3float'],
  mp2: ['mp2float'],
  opus: ['opus'],
  vorbis: ['vorbis'],
  flac: ['flac'],
  alac: ['alac'],
  ac3: ['ac3'],
  eac3: ['eac3'],
  amr_nb: ['amrnb'],
  amr_wb: ['amrwb'],
  adpcm_ima_qt: ['adpcm_ima_qt'],
  ...Object.fromEntries(
    'alaw mulaw u8 s8 s16le s16be s24le s24be s32le s32be f32le f32be f64le f64be'
      .split(' ')
      .map((layout) => [`pcm_${layout}`, [`pcm_${layout}`]]),
  ),
};

export const ALLOWED_DECODERS: string = [VIDEO_DECODERS, ALPHA_DECODERS, AUDIO_DECODERS]
  .flatMap((table) => Object.values(table).flat())
  .join(',');

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
  /** Codecs and filters that renders use -> whether this FFmpeg build has them. */
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

/** The video support of this installation, for `storybar doctor` and the health endpoint. */
export function codecInfo(): CodecInfo {
  const decoders = ALLOWED_DECODERS.split(',').filter((name) => !name.startsWith('pcm_'));
  const available = [
    ...ENCODERS.map((name) => [`encode ${name}`, Codec.findEncoderByName(name as FFEncoderCodec) !== null]),
    ...decoders.map((name) => [`decode ${name}`, isDecoder(name)]),
    ...FILTERS.map((name) => [`filter ${name}`, Filter.getByName(name) !== null]),
  ];
  return { ffmpeg: getFFmpegInfo().version, available: Object.fromEntries(available) };
}
