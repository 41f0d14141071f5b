// Sample media from public projects, kept next to the repository in ../shared/media. Without them, the tests that need
// them are skipped, and their titles say so.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const SHARED_MEDIA = path.join(import.meta.dirname, '..', '..', 'shared', 'media');

export const hasSharedMedia = existsSync(SHARED_MEDIA);

/** Path of a file in the media folder, for example `sharedMedia('webp/imagewebp__tiny.webp')`. */
export function sharedMedia(file: string): string {
  return path.join(SHARED_MEDIA, file);
}

/** Sorted files of a folder, as arguments for `sharedMedia`. Empty when the media are missing. */
export function filesOf(folder: string): string[] {
  if (!hasSharedMedia) return [];
  return readdirSync(sharedMedia(folder))
    .toSorted()
    .map((name) => `${folder}/${name}`);
}
