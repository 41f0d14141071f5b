import { type ClipOptions, makeClip, PLAIN_TAGS } from './clip.ts';
import { BT709, GRAY, paintYuv } from './painting.ts';

/** Creates a small, short, gray H.264 MP4 with these changes, and returns its path. */
export function plainClip(path: string, changes: Partial<ClipOptions> = {}): string {
  makeClip({
    path,
    container: 'mp4',
    codec: 'libx264',
    pixelFormat: 'yuv420p',
    width: 96,
    height: 64,
    paint: paintYuv(() => GRAY, BT709),
    tags: PLAIN_TAGS,
    encoderOptions: { preset: 'ultrafast' },
    ...changes,
  });
  return path;
}
