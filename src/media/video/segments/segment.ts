// One segment of a video, rendered as it would be in the whole: its frames, their times, and a first frame that needs none
// before it. Whatever leaves a doubt about that is an error of ours, not of the asset: the whole can still be rendered.

import { AV_FRAME_FLAG_CORRUPT } from 'node-av/constants';
import type { Frame, Packet } from 'node-av/lib';
import { Container } from '../probe/container.ts';
import type { VideoSegment } from './cuts.ts';
import { forEachPacket } from '../packet-loop.ts';
import type { BarImage } from '../frames/graph.ts';
import { VideoTrack } from '../frames/track.ts';
import { SegmentWriter } from './segment-file.ts';
import { streamAt, type TranscodeFacts, type TranscodeOptions, type TranscodePlan } from '../transcode.ts';
import { undecodable } from '../undecodable.ts';

export async function encodeSegment(
  plan: TranscodePlan,
  segment: VideoSegment,
  path: string,
  outPath: string,
  bars: readonly BarImage[],
  options: TranscodeOptions = {},
): Promise<TranscodeFacts> {
  const container = new Container(path, plan.format);
  const closers: (() => void)[] = [() => container.close()];
  try {
    container.select([plan.video.index]);
    const file = new SegmentWriter(outPath);
    closers.push(() => file.close());
    const stream = streamAt(container, plan.video.index);
    const picture = new VideoTrack(plan, stream, bars, file, (frame) => isIn(segment, frame));
    closers.push(() => picture.free());
    await decodeSegment(plan, segment, { container, picture, file }, options);
    picture.finish();
    if (picture.frames !== segment.frames || file.packets !== segment.frames) {
      throw new Error(`a segment of ${segment.frames} frames came out with ${picture.frames}`);
    }
    file.finish();
    return { frames: picture.frames, durationSeconds: picture.seconds };
  } finally {
    for (const close of closers.toReversed()) close();
  }
}

interface Tracks {
  readonly container: Container;
  readonly picture: VideoTrack;
  readonly file: SegmentWriter;
}

/** From the start of the file, so that the demuxer has seen what it sees in a whole render; reading costs next to nothing. */
async function decodeSegment(
  { video, bounds }: TranscodePlan,
  { decodeFrom, decodeTo, frames: totalFrames }: VideoSegment,
  { container, picture, file }: Tracks,
  { signal, onProgress }: TranscodeOptions,
): Promise<void> {
  let at = 0;
  const take = (packet: Packet): boolean => {
    if (packet.streamIndex !== video.index) return true;
    if (at === decodeTo) return false;
    if (at >= decodeFrom) picture.take(packet);
    at += 1;
    if (picture.frames > bounds.frames || file.bytes > bounds.bytes) {
      throw undecodable('it holds more than its index says');
    }
    return true;
  };
  await forEachPacket(container, take, {
    signal,
    onTurn: () => onProgress?.({ frames: picture.frames, totalFrames }),
  });
}

/** A damaged frame may be the cut's doing: a keyframe that promised more than it kept. */
function isIn({ from, to }: VideoSegment, frame: Frame): boolean {
  const pts = Number(frame.pts);
  if ((from !== null && pts < from) || (to !== null && pts >= to)) return false;
  if (frame.hasFlags(AV_FRAME_FLAG_CORRUPT) || frame.decodeErrorFlags !== 0) {
    throw new Error('a frame of a segment is damaged');
  }
  return true;
}
