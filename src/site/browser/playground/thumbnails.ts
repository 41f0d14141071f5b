// Small images of a video, side by side. A second player fetches them, so the one on the stage isn't disturbed.

import type { Media } from './media.ts';

const HEIGHT = 40;
const WIDTH = 600;
const SEEK_MS = 10_000;

export async function drawThumbnails(canvas: HTMLCanvasElement, media: Media | undefined): Promise<void> {
  canvas.hidden = !(media?.element instanceof HTMLVideoElement);
  if (media === undefined || !(media.element instanceof HTMLVideoElement)) return;
  const { src } = media.element;
  canvas.dataset['of'] = src;
  Object.assign(canvas, { width: WIDTH, height: HEIGHT });
  const count = Math.max(1, Math.round(WIDTH / ((HEIGHT * media.width) / media.height)));
  const width = WIDTH / count;
  const video = document.createElement('video');
  Object.assign(video, { src, muted: true, preload: 'auto' });
  for (let index = 0; index < count; index += 1) {
    video.currentTime = ((index + 0.5) / count) * (media.seconds ?? 0);
    const isThere = await new Promise<boolean>((resolve) => {
      video.addEventListener('seeked', () => resolve(true), { once: true });
      setTimeout(() => resolve(false), SEEK_MS);
    });
    // The visitor has opened another file in the meantime.
    if (canvas.dataset['of'] !== src) break;
    if (isThere) canvas.getContext('2d')?.drawImage(video, index * width, 0, width, HEIGHT);
  }
  video.removeAttribute('src');
}
