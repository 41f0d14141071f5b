// `npm run platforms -- out/x64`: renders many images and some videos into a folder. With a second folder, from another machine, it
// then says which of them differ and by how much: `npm run platforms -- out/arm64 out/x64`.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import sharp from 'sharp';
import { renderCaptionClip, renderCover, renderImage, renderOverlay, renderVideo } from '../src/engine/index.ts';
import { GOLDEN_CASES } from './golden/cases.ts';

const PHOTOS = path.join(import.meta.dirname, 'golden/photos');
const CLIP = path.join(import.meta.dirname, '../assets/snow.mp4');
const CAPTIONS = [
  { text: 'Sunday at the lake 🎧', position: 20 },
  { text: 'मौसम अच्छा है', position: 50 },
  { text: 'مرحبا بالعالم', position: 80 },
];
const STYLES = ['bar', 'box', 'outline', 'plain'] as const;
const CHANNELS = 3;
const SIZE = { width: 360, height: 640 };

const [folder = '', other] = process.argv.slice(2);
if (folder === '') throw new Error('usage: npm run platforms -- FOLDER [FOLDER OF ANOTHER MACHINE]');
mkdirSync(folder, { recursive: true });

function keep(name: string, bytes: Uint8Array): void {
  writeFileSync(path.join(folder, name), bytes);
}

for (const { name, canvas, overlays } of GOLDEN_CASES) {
  keep(`overlay-${name}.png`, (await renderOverlay(canvas, overlays)).bytes);
}
for (const photo of ['bus', 'sunset', 'tokyo']) {
  const file = path.join(PHOTOS, `${photo}.jpg`);
  for (const style of STYLES) {
    for (const format of ['png', 'jpeg', 'webp'] as const) {
      keep(`${photo}-${style}.${format}`, (await renderImage(file, CAPTIONS, { style, format })).bytes);
    }
  }
  keep(`${photo}-quality.jpeg`, (await renderImage(file, CAPTIONS, { format: 'jpeg', quality: 80 })).bytes);
}
keep('cover.png', (await renderCover(CLIP, CAPTIONS, { at: 1 })).bytes);
for (const format of ['webm', 'mov', 'apng'] as const) {
  await renderCaptionClip(SIZE, path.join(folder, `clip.${format}`), CAPTIONS, { duration: 1, fps: 10, format });
}
await renderVideo(CLIP, path.join(folder, 'video.mp4'), CAPTIONS);
if (other !== undefined) for (const name of readdirSync(folder).toSorted()) console.log(await comparison(name, other));

/** Returns a line such as `bus-bar.png: 12 of 518400 pixels differ, by at most 1`. */
async function comparison(name: string, otherFolder: string): Promise<string> {
  const files = [readFileSync(path.join(folder, name)), readFileSync(path.join(otherFolder, name))] as const;
  if (files[0].equals(files[1])) return `${name}: the same file`;
  if (/\.(?:webm|mov|apng|mp4)$/u.test(name)) return `${name}: another file`;
  const [one, two] = await Promise.all(files.map(async (file) => await seen(file)));
  if (one?.length !== two?.length) return `${name}: another size`;
  const steps = Array.from(one ?? [], (value, index) => Math.abs(value - (two?.[index] ?? 0)));
  const pixels = new Set(steps.flatMap((step, index) => (step > 0 ? [Math.floor(index / CHANNELS)] : [])));
  const all = steps.length / CHANNELS;
  return `${name}: ${pixels.size} of ${all} pixels differ, by at most ${steps.reduce((most, step) => Math.max(most, step), 0)}`;
}

/** What is seen on gray: the colors of pixels that are nearly transparent don't matter. */
async function seen(file: Buffer): Promise<Buffer> {
  return await sharp(file).flatten({ background: '#808080' }).removeAlpha().toColorspace('srgb').raw().toBuffer();
}
