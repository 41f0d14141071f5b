// Real files of public projects, kept beside the repository in ../shared/media and not part of it. A clone without them
// skips the tests that need them, and says so in their titles.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const SHARED_MEDIA = path.join(import.meta.dirname, '..', '..', 'shared', 'media');

export const hasSharedMedia = existsSync(SHARED_MEDIA);

/** The path of a file, named relative to the media folder: `sharedMedia('text/blns.json')`. */
export function sharedMedia(file: string): string {
  return path.join(SHARED_MEDIA, file);
}

/** The files of a folder, sorted, in the form `sharedMedia` takes; none when the media are absent. */
export function filesOf(folder: string): string[] {
  if (!hasSharedMedia) return [];
  return readdirSync(sharedMedia(folder))
    .toSorted()
    .map((name) => `${folder}/${name}`);
}

/** The lines of a text file that hold data: neither empty nor a comment. */
export function dataLines(file: string): string[] {
  return readFileSync(sharedMedia(file), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
}
