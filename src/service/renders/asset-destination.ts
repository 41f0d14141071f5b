import type { PlanLimits } from '../account/plans.ts';
import type { AssetDestination } from '../../engine/media/receive-asset.ts';
import { type AssetFormat, KIND_OF_FORMAT } from '../../engine/media/sniff.ts';
import type { LazyDirectory } from '../../engine/media/work-area.ts';
import type { DiskReservation } from './upload-budget.ts';

/** Returns the destination of a request's file, uploaded or fetched. */
export function destinationIn(
  directory: LazyDirectory,
  disk: DiskReservation,
  { imageBytes, videoBytes }: Pick<PlanLimits, 'imageBytes' | 'videoBytes'>,
  options: Pick<AssetDestination, 'hash' | 'onKind'>,
): AssetDestination {
  return {
    ...options,
    path: directory.file('asset'),
    prepare: async () => await directory.make(),
    maxBytes: Math.max(imageBytes, videoBytes),
    maxBytesOf: (format: AssetFormat) => (KIND_OF_FORMAT[format] === 'image' ? imageBytes : videoBytes),
    reserve: (bytes: number) => disk.grow(bytes),
  };
}
