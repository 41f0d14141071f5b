// Which streams of a container are the video and the sound. Chosen by us: FFmpeg's own choice may be a cover picture or
// a spatial sound track that nothing can decode.

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
import { undecodable } from '../undecodable.ts';

export interface DecodableTrack {
  readonly stream: Stream;
  readonly codec: string;
  readonly decoder: string;
}

export function selectVideoTrack(streams: readonly Stream[]): DecodableTrack {
  const moving = ofType(streams, AVMEDIA_TYPE_VIDEO).filter((stream) => !isPicture(stream));
  if (moving.length === 0) throw undecodable('it has no video stream');
  const candidates = moving.flatMap((stream) =>
    withDecoder(stream, videoDecoderFor(codecOf(stream), hasAlphaLayer(stream))),
  );
  const chosen = candidates.find(({ stream }) => stream.hasDisposition(AV_DISPOSITION_DEFAULT)) ?? candidates[0];
  if (chosen === undefined) {
    const names = moving.map((stream) => codecOf(stream)).join(', ');
    throw undecodable(`its video is in a format that is not supported (${names})`);
  }
  return chosen;
}

/** In the order of the file: the first is the one players play. */
export function audioCandidates(streams: readonly Stream[]): readonly DecodableTrack[] {
  return ofType(streams, AVMEDIA_TYPE_AUDIO).flatMap((stream) => withDecoder(stream, audioDecoderFor(codecOf(stream))));
}

function ofType(streams: readonly Stream[], type: AVMediaType): readonly Stream[] {
  return streams.filter((stream) => stream.codecpar.codecType === type);
}

function withDecoder(stream: Stream, decoder: string | undefined): readonly DecodableTrack[] {
  return decoder === undefined ? [] : [{ stream, codec: codecOf(stream), decoder }];
}

function codecOf(stream: Stream): string {
  return avGetCodecName(stream.codecpar.codecId) ?? 'unknown';
}

function isPicture(stream: Stream): boolean {
  return stream.hasDisposition(AV_DISPOSITION_ATTACHED_PIC) || stream.hasDisposition(AV_DISPOSITION_TIMED_THUMBNAILS);
}

function hasAlphaLayer(stream: Stream): boolean {
  return stream.metadata?.get('alpha_mode') === '1';
}
