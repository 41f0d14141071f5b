// Transparent videos in a real browser: a WebM of captions shows the page behind it.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderCaptionClip } from '../../src/engine/index.ts';
import { launchBrowser, whySkipped } from './browser.ts';

const found = await launchBrowser();
const folder = mkdtempSync(path.join(tmpdir(), 'storybar-transparent-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CAPTIONS = [
  { text: 'Red', position: 25, style: { preset: 'box', background: '#e0245e', color: '#e0245e' }, start: 0.5 },
  { text: '.', position: 75, style: { preset: 'bar' } },
] as const;

/** Runs in the page: plays the video to a time over a color, and returns the pixels at these places. */
const PIXELS = `async ({ source, color, time, places }) => {
  const video = document.createElement('video');
  video.muted = true;
  video.src = source;
  await new Promise((resolve, reject) => {
    video.onerror = () => reject(new Error('The video cannot be played: ' + video.error.message));
    video.onloadeddata = resolve;
  });
  await new Promise((resolve) => {
    video.onseeked = resolve;
    video.currentTime = time;
  });
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
  const context = canvas.getContext('2d');
  context.fillStyle = color;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(video, 0, 0);
  return places.map(([x, y]) => [...context.getImageData(x, y, 1, 1).data].slice(0, 3));
}`;

function distance(one: readonly number[], other: readonly number[]): number {
  return Math.max(...one.map((value, channel) => Math.abs(value - (other[channel] ?? 0))));
}

describe.skipIf('reason' in found)(`transparent videos in a browser${whySkipped(found)}`, () => {
  let browser: Browser;
  let source: string;

  beforeAll(async () => {
    if ('reason' in found) throw new Error(found.reason);
    ({ browser } = found);
    const file = path.join(folder, 'captions.webm');
    await renderCaptionClip({ width: 200, height: 160 }, file, CAPTIONS, { duration: 1, fps: 10 });
    source = `data:video/webm;base64,${readFileSync(file).toString('base64')}`;
  });
  afterAll(async () => {
    await browser.close();
  });

  it('a WebM of captions is transparent around the bars, translucent in a bar and opaque in a box', async () => {
    const page = await browser.newPage();
    const pixelsAt = async (time: number, color: string): Promise<number[][]> =>
      await page.evaluate(
        `(${PIXELS})(${JSON.stringify({
          source,
          color,
          time,
          places: [
            [4, 4],
            [100, 40],
            [4, 120],
          ],
        })})`,
      );
    for (const [color, rgb] of [
      ['#00ff00', [0, 255, 0]],
      ['#ffffff', [255, 255, 255]],
    ] as const) {
      const [around = [], box = [], bar = []] = await pixelsAt(0.75, color);
      expect(around).toEqual(rgb);
      expect(distance(box, [0xe0, 0x24, 0x5e])).toBeLessThanOrEqual(8);
      // The bar is black with an opacity of about two thirds, so the page is visible through it.
      expect(Math.max(...bar)).toBeGreaterThan(40);
      expect(Math.max(...bar)).toBeLessThan(160);
      const [, early = []] = await pixelsAt(0.25, color);
      expect(early).toEqual(rgb);
    }
    await page.close();
  });
});
