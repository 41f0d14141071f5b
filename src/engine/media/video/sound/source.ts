// Selects the audio track and decides whether to copy it or to encode it as AAC. Audio is copied when all MP4 players
// support it as it is.

import type { AudioSource } from '../../probe-schema.ts';
import type { TrackScan } from '../probe/scan.ts';
import type { DecodableTrack } from '../probe/tracks.ts';

/** Describes the first track that has packets, isn't encrypted and declares a valid format. */
export function describeAudio(
  candidates: readonly DecodableTrack[],
  tracks: ReadonlyMap<number, TrackScan>,
): AudioSource | null {
  for (const { stream, codec, decoder } of candidates) {
    const track = tracks.get(stream.index);
    const { sampleRate, channels, extradataSize } = stream.codecpar;
    if (track === undefined || track.packets === 0 || track.encrypted) continue;
    if (sampleRate <= 0 || channels <= 0) continue;
    // MP4 doesn't support MP3 below 16 kHz, and AAC without its configuration record can't be described in MP4.
    const isCopyable = (codec === 'mp3' && sampleRate >= 16_000) || (codec === 'aac' && extradataSize > 0);
    const { start, end } = track;
    const action = isCopyable ? 'copy' : 'encode';
    return { index: stream.index, codec, decoder, action, sampleRate, channels, start, end };
  }
  return null;
}
