import { must } from '../../../primitives/must.ts';
import type { TimedBars } from '../frames/bar-blender.ts';
import type { TranscodeFacts, TranscodeOptions, TranscodePlan, VideoPiece } from '../transcode-plan.ts';
import { joinSegments } from './join.ts';
import { encodeSegment } from './segment.ts';
import { workOf } from './work.ts';

export async function encodePiece(
  plan: TranscodePlan,
  piece: VideoPiece,
  { asset, output }: { readonly asset: string; readonly output: string },
  bars: TimedBars,
  options: TranscodeOptions,
): Promise<TranscodeFacts> {
  const work = workOf(piece);
  if (work.type === 'segment') return await encodeSegment(plan, work.segment, asset, output, bars, options);
  const paths = { asset, segments: must(options.attachment, 'the file with the segments'), output };
  return await joinSegments(plan, work.segments, paths, options);
}
