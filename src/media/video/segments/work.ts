// The work of one worker for a video that several workers share: render one segment, or join all of them. Recipes carry
// it as a piece, and only this folder looks inside.

import type { VideoPiece } from '../transcode-plan.ts';
import type { VideoSegment } from './plan.ts';

type SegmentWork =
  | { readonly type: 'segment'; readonly segment: VideoSegment }
  | { readonly type: 'join'; readonly segments: readonly VideoSegment[] };

/** Joining segments copies the video and encodes at most the audio. */
const JOIN_FRACTION = 0.02;

export function segmentPiece(segment: VideoSegment): VideoPiece {
  return { frames: segment.frames, isLast: false, work: { type: 'segment', segment } satisfies SegmentWork };
}

/** The attachment is a file with all segments, concatenated. */
export function joinPiece(segments: readonly VideoSegment[], totalFrames: number): VideoPiece {
  return { frames: totalFrames * JOIN_FRACTION, isLast: true, work: { type: 'join', segments } satisfies SegmentWork };
}

/** The API server made the piece, so it is trusted; only an unknown kind is refused. */
export function workOf({ work }: VideoPiece): SegmentWork {
  const known = work as SegmentWork;
  if (known.type !== 'segment' && known.type !== 'join')
    throw new Error('the piece of the video is of an unknown kind');
  return known;
}
