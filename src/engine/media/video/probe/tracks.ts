// Selects the video and audio streams of a container. FFmpeg's own selection can be cover art or a spatial audio track
// that no decoder supports.

import {
  AV_DISPOSITION_ATTACHED_PIC,
  AV_DISPOSITION_DEFAULT,
  AV_DISPOSITION_TIMED_THUMBNAILS,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
  type AVMediaType,
} from 'node-av/constants';
import { avGetCodecName, type Stream } from 'node-av/lib';
import { audioDecoderFor, videoDecoderFor } from './codecs.ts';
import { CONVERT_TO_H264, undecodable } from '../undecodable.ts';

export interface DecodableTrack {
  readonly stream: Stream;
  readonly codec: string;
  readonly decoder: string;
}

export function selectVideoTrack(streams: readonly Stream[]): DecodableTrack {
  const videoStreams = ofType(streams, AVMEDIA_TYPE_VIDEO).filter((stream) => !isCoverArt(stream));
  if (videoStreams.length === 0)
    throw undecodable('it has no video track', 'Upload a file that contains a video track.');
  const candidates = videoStreams.flatMap((stream) =>
    withDecoder(stream, videoDecoderFor(codecOf(stream), hasAlphaLayer(stream))),
  );
  const selected = candidates.find(({ stream }) => stream.hasDisposition(AV_DISPOSITION_DEFAULT)) ?? candidates[0];
  if (selected === undefined) {
    const names = videoStreams.map((stream) => codecNameOf(stream)).join(', ');
    throw undecodable(`its video codec isn't supported (${names})`, CONVERT_TO_H264);
  }
  return selected;
}

/** Returns candidates in the order of players: those flagged as default first, otherwise as in the file. */
export function audioCandidates(streams: readonly Stream[]): readonly DecodableTrack[] {
  const isDefault = (stream: Stream): boolean => stream.hasDisposition(AV_DISPOSITION_DEFAULT);
  const audio = audioStreams(streams);
  const ordered = [...audio.filter(isDefault), ...audio.filter((stream) => !isDefault(stream))];
  return ordered.flatMap((stream) => withDecoder(stream, audioDecoderFor(codecOf(stream))));
}

export function audioStreams(streams: readonly Stream[]): readonly Stream[] {
  return ofType(streams, AVMEDIA_TYPE_AUDIO);
}

function ofType(streams: readonly Stream[], type: AVMediaType): readonly Stream[] {
  return streams.filter((stream) => stream.codecpar.codecType === type);
}

function withDecoder(stream: Stream, decoder: string | undefined): readonly DecodableTrack[] {
  return decoder === undefined ? [] : [{ stream, codec: codecOf(stream), decoder }];
}

/** FFmpeg calls an unknown codec "none". The four letters in the file say more. */
function codecNameOf(stream: Stream): string {
  const codec = codecOf(stream);
  if (codec !== 'none') return codec;
  const tag = stream.codecpar.codecTagString ?? '';
  return /^\w{4}$/u.test(tag) ? tag : 'unknown codec';
}

function codecOf(stream: Stream): string {
  return avGetCodecName(stream.codecpar.codecId) ?? 'unknown';
}

function isCoverArt(stream: Stream): boolean {
  return stream.hasDisposition(AV_DISPOSITION_ATTACHED_PIC) || stream.hasDisposition(AV_DISPOSITION_TIMED_THUMBNAILS);
}

function hasAlphaLayer(stream: Stream): boolean {
  return stream.metadata?.get('alpha_mode') === '1';
}
