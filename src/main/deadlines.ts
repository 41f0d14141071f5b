import type { Settings } from '../service/config/settings.ts';
import type { AssetKind } from '../engine/media/sniff.ts';

/** Returns how long requests may wait for their render, in milliseconds. */
export function deadlinesOf({
  deadlineSeconds,
  videoDeadlineSeconds,
}: Pick<Settings, 'deadlineSeconds' | 'videoDeadlineSeconds'>): Record<AssetKind, number> {
  return { image: deadlineSeconds * 1_000, video: videoDeadlineSeconds * 1_000 };
}
