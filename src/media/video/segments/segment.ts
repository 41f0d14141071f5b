// Renders one segment of a video exactly as it would be in the whole video: the same frames at the same times, starting
// with a keyframe. Any doubt about that is an internal error and not the fault of the asset, because the whole video
// can still be rendered.

import { AV_FRAME_FLAG_CORRUPT } from 'node-av/constants';
import type { Frame, Packet } from 'node-av/lib';
import type { TimedBars } from '../frames/bar-blender.ts';
import { VideoTrack } from '../frames/track.ts';
import { forEachPacket } from '../packet-loop.ts';
import { Container } from '../probe/container.ts';
import { firstFrameOf } from '../probe/timing.ts';
import type { TranscodeFacts, TranscodeOptions, TranscodePlan } from '../transcode-plan.ts';
import { undecodable } from '../undecodable.ts';
import type { VideoSegment } from './plan.ts';
import { SegmentWriter } from './segment-file.ts';

export async function encodeSegment(
  plan: TranscodePlan,
  segment: VideoSegment,
  path: string,
  outPath: string,
  bars: TimedBars,
  options: TranscodeOptions = {},
): Promise<TranscodeFacts> {
  const container = new Container(path, plan.format);
  const closers: (() => void)[] = [() => container.close()];
  try {
    container.select([plan.video.index]);
    const file = new SegmentWriter(outPath);
    closers.push(() => file.close());
    const stream = container.streamAt(plan.video.index);
    const track = new VideoTrack(plan, stream, bars, file, {
      first: firstFrameOf(plan.video),
      shouldEncode: (frame) => isInSegment(segment, frame),
    });
    closers.push(() => track.free());
    await decodeSegment(plan, segment, { container, track, file }, options);
    track.finish();
    if (track.frames !== segment.frames || file.packets !== segment.frames) {
      throw new Error(`segment has ${track.frames} frames instead of ${segment.frames}`);
    }
    file.finish();
    return track.facts;
  } finally {
    for (const close of closers.toReversed()) close();
  }
}

interface OpenSegment {
  readonly container: Container;
  readonly track: VideoTrack;
  readonly file: SegmentWriter;
}

/** Reads from the start of the file, so that the demuxer behaves as in a whole render. Reading costs almost nothing. */
async function decodeSegment(
  { video, bounds }: TranscodePlan,
  { decodeFrom, decodeTo, frames: totalFrames }: VideoSegment,
  { container, track, file }: OpenSegment,
  { signal, onProgress }: TranscodeOptions,
): Promise<void> {
  let index = 0;
  const handle = (packet: Packet): boolean => {
    if (packet.streamIndex !== video.index) return true;
    if (index === decodeTo) return false;
    if (index >= decodeFrom) track.process(packet);
    index += 1;
    if (track.frames > bounds.frames || file.bytes > bounds.bytes) {
      throw undecodable('it contains more data than its index declares');
    }
    return true;
  };
  await forEachPacket(container, handle, {
    signal,
    onYield: () => onProgress?.({ frames: track.frames, totalFrames }),
  });
}

/** A damaged frame may be caused by the cut, if a keyframe wasn't a safe place to start decoding. */
function isInSegment({ from, to }: VideoSegment, frame: Frame): boolean {
  const pts = Number(frame.pts);
  if ((from !== null && pts < from) || (to !== null && pts >= to)) return false;
  if (frame.hasFlags(AV_FRAME_FLAG_CORRUPT) || frame.decodeErrorFlags !== 0) {
    throw new Error('segment contains a damaged frame');
  }
  return true;
}
