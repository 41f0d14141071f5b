// The sound that goes along: copied when every MP4 player takes it as it is, otherwise decoded and encoded as AAC.

import type { TrackScan } from '../probe/scan.ts';
import type { DecodableTrack } from '../probe/tracks.ts';

export interface AudioSource {
  readonly index: number;
  readonly codec: string;
  readonly decoder: string;
  readonly action: 'copy' | 'encode';
  readonly sampleRate: number;
  readonly channels: number;
  readonly start: number;
  readonly end: number;
}

/** The first track with sound in it that nothing stands in the way of decoding. */
export function describeAudio(
  candidates: readonly DecodableTrack[],
  tracks: ReadonlyMap<number, TrackScan>,
): AudioSource | null {
  for (const { stream, codec, decoder } of candidates) {
    const track = tracks.get(stream.index);
    const { sampleRate, channels, extradataSize } = stream.codecpar;
    if (track === undefined || track.packets === 0 || track.encrypted) continue;
    if (sampleRate <= 0 || channels <= 0) continue;
    // MP4 knows no MP3 slower than this, and AAC cannot be described without its configuration.
    const copyable = (codec === 'mp3' && sampleRate >= 16_000) || (codec === 'aac' && extradataSize > 0);
    const { start, end } = track;
    const action = copyable ? 'copy' : 'encode';
    return { index: stream.index, codec, decoder, action, sampleRate, channels, start, end };
  }
  return null;
}
