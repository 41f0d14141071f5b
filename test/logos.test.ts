// Logos in decoded pixels, on everything that can be rendered.

import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Overlay } from '../src/engine/caption/overlay.ts';
import { probeImage } from '../src/engine/media/image.ts';
import { probeVideo } from '../src/engine/media/video/probe/probe.ts';
import { renderClip } from '../src/engine/render/clip.ts';
import { composeRecipe } from '../src/engine/render/compose.ts';
import type { RecipeLogo } from '../src/engine/render/logo.ts';
import { renderOnImage, renderTransparent, type Rendered } from '../src/engine/render/render.ts';
import { createRenderTools } from '../src/engine/render/renderer-tools.ts';
import { renderOnVideo } from '../src/engine/render/video.ts';
import { DEFAULT_VIDEO_LIMITS } from '../src/engine/render/video-recipe.ts';
import { recipeSchema } from '../src/engine/render/recipe-schema.ts';
import { readClip } from './video/clip.ts';
import { plainClip } from './video/plain-clip.ts';
import { workDirectory } from './video/render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());
const tools = createRenderTools();
const LIMITS = { imagePixels: 50_000_000, ...DEFAULT_VIDEO_LIMITS };
const CAPTION: readonly Overlay[] = [{ text: 'Hi', position: 50 }];
const PLACE = { corner: 'top-right', width: 25, margin: 5, opacity: 1 } as const;
let red: RecipeLogo;
let dot: RecipeLogo;

async function logoOf(png: Buffer, changes: Partial<RecipeLogo> = {}): Promise<RecipeLogo> {
  const { width, height } = await sharp(png).metadata();
  return { ...PLACE, pixels: { width, height }, png: png.toString('base64'), ...changes };
}

beforeAll(async () => {
  const square = {
    create: { width: 64, height: 64, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 1 } },
  } as const;
  red = await logoOf(await sharp(square).png().toBuffer());
  // A red circle whose transparent pixels are green, which must never show.
  const side = 256;
  const pixels = Buffer.alloc(side * side * 4);
  for (let index = 0; index < side * side; index += 1) {
    const isInside = Math.hypot((index % side) - side / 2, Math.floor(index / side) - side / 2) < side / 2 - 4;
    pixels.set(isInside ? [255, 0, 0, 255] : [0, 255, 0, 0], index * 4);
  }
  dot = await logoOf(
    await sharp(pixels, { raw: { width: side, height: side, channels: 4 } })
      .png()
      .toBuffer(),
  );
});

interface Pixels {
  at(x: number, y: number): number[];
  readonly width: number;
  readonly height: number;
}

async function pixelsOf(image: Buffer): Promise<Pixels> {
  const { data, info } = await sharp(image).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  return { width, height, at: (x, y) => [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)] };
}

/** Recipes go through the schema of remote workers. */
function composed<Kind extends string>(kind: Kind, ...args: Parameters<typeof composeRecipe>) {
  const recipe = recipeSchema.parse(JSON.parse(JSON.stringify(composeRecipe(...args))));
  if (recipe.kind !== kind) throw new Error(`a recipe of kind ${recipe.kind}`);
  return recipe as unknown as Extract<ReturnType<typeof composeRecipe>, { readonly kind: Kind }>;
}

async function transparent(overlays: readonly Overlay[], logo: RecipeLogo, side = 400): Promise<Rendered> {
  const recipe = composed('transparent', { kind: 'canvas', width: side, height: 2 * side }, overlays, LIMITS, { logo });
  return await renderTransparent(recipe, tools);
}

async function onPhoto(photo: Buffer, logo: RecipeLogo, format: 'png' | 'jpeg'): Promise<Rendered> {
  const probe = await probeImage(photo);
  const recipe = composed('image', probe, CAPTION, LIMITS, { logo, output: { format } });
  return await renderOnImage(recipe, photo, tools);
}

describe('a logo', () => {
  it('a logo is drawn in its corner of a transparent overlay, and nowhere else', async () => {
    const { bytes, warnings } = await transparent(CAPTION, red);
    const image = await pixelsOf(bytes);
    expect([image.at(330, 70), image.at(280, 20), image.at(379, 119)]).toEqual(
      Array.from({ length: 3 }, () => [255, 0, 0, 255]),
    );
    expect([image.at(278, 70), image.at(330, 18), image.at(381, 70), image.at(330, 121)]).toEqual(
      Array.from({ length: 4 }, () => [0, 0, 0, 0]),
    );
    expect(warnings).toEqual([]);
  });

  it('a scaled logo has soft edges in its own color, whatever its transparent pixels contain', async () => {
    const image = await pixelsOf((await transparent(CAPTION, dot)).bytes);
    let soft = 0;
    for (let y = 0; y < 140; y += 1) {
      for (let x = 260; x < 400; x += 1) {
        const [r = 0, g = 0, b = 0, alpha = 0] = image.at(x, y);
        // Transparent pixels are 0, and all others are red.
        const isRight = alpha === 0 ? r + g + b === 0 : r > 250 && g < 6 && b < 6;
        expect([x, y, r, g, b, isRight]).toEqual([x, y, r, g, b, true]);
        if (alpha > 20 && alpha < 235) soft += 1;
      }
    }
    expect(soft).toBeGreaterThan(50);
  });

  it('a logo has its opacity', async () => {
    const image = await pixelsOf((await transparent(CAPTION, { ...red, opacity: 0.5 })).bytes);
    expect(image.at(330, 70)).toEqual([255, 0, 0, 128]);
  });

  it('a logo beside a label is drawn, and the label keeps its pixels', async () => {
    const label: readonly Overlay[] = [{ text: 'Hi', position: 5, style: { preset: 'box', align: 'left' } }];
    const with1 = await pixelsOf((await transparent(label, red)).bytes);
    const probe = await renderTransparent(
      composed('transparent', { kind: 'canvas', width: 400, height: 800 }, label, LIMITS, {}),
      tools,
    );
    const without = await pixelsOf(probe.bytes);
    expect(with1.at(330, 70)).toEqual([255, 0, 0, 255]);
    for (let y = 0; y < 200; y += 7) {
      for (let x = 0; x < 270; x += 7) expect(with1.at(x, y)).toEqual(without.at(x, y));
    }
  });

  it('a logo that captions leave no place for is left out, with a warning', async () => {
    const overlays = Array.from({ length: 40 }, (_, index) => ({ text: 'Hi', position: index * 2.5 }));
    const { bytes, warnings } = await transparent(overlays, red);
    expect(warnings).toContain('logo_moved');
    const image = await pixelsOf(bytes);
    for (let y = 0; y < 800; y += 10) expect(image.at(330, y).slice(0, 3)).toEqual([0, 0, 0]);
  });

  it('a logo on a photo is the overlay laid over it, and the pixels of a JPEG are kept elsewhere', async () => {
    const gray = sharp({ create: { width: 640, height: 640, channels: 3, background: '#808080' } });
    const photo = await gray.jpeg({ quality: 90 }).toBuffer();
    const png = await pixelsOf((await onPhoto(photo, dot, 'png')).bytes);
    expect(png.at(528, 112)).toEqual([255, 0, 0, 255]);
    expect(png.at(440, 112)).toEqual([128, 128, 128, 255]);
    const kept = await onPhoto(photo, dot, 'jpeg');
    expect(kept.sourcePixels).toBe('kept');
    const jpeg = await pixelsOf(kept.bytes);
    const [r = 0, g = 255, b = 255] = jpeg.at(528, 112);
    expect([r > 240, g < 20, b < 20]).toEqual([true, true, true]);
  });

  it('a logo on a photo with a wide color profile is converted to that profile', async () => {
    const photo = await sharp({ create: { width: 640, height: 640, channels: 3, background: '#808080' } })
      .withIccProfile('p3')
      .jpeg({ quality: 95 })
      .toBuffer();
    const { bytes, sourcePixels } = await onPhoto(photo, red, 'jpeg');
    expect(sourcePixels).toBe('kept');
    // Display P3 needs less red and some green for the red of sRGB.
    const { data, info } = await sharp(bytes, { ignoreIcc: true }).raw().toBuffer({ resolveWithObject: true });
    const at = (112 * info.width + 528) * 3;
    expect(Math.abs((data[at] ?? 0) - 234)).toBeLessThanOrEqual(4);
    expect(Math.abs((data[at + 1] ?? 0) - 51)).toBeLessThanOrEqual(4);
    expect(Math.abs((data[at + 2] ?? 0) - 35)).toBeLessThanOrEqual(6);
  });

  it('a logo is on every frame of a video, also on those without a caption, in the same place', async () => {
    const source = plainClip(work.path('source.mp4'), { width: 320, height: 240, frames: 12 });
    const output = work.path('logo.mp4');
    const overlays: readonly Overlay[] = [{ text: 'Hi', position: 100, start: 0.2, end: 0.3 }];
    const probe = probeVideo(source, 'mp4', { maxSide: 4_096 });
    const recipe = composed('video', probe, overlays, LIMITS, { logo: red });
    const facts = await renderOnVideo(recipe, source, output, tools);
    expect(facts.warnings).toEqual([]);
    const { frames } = readClip(output, 100);
    expect(frames).toHaveLength(12);
    for (const frame of frames) {
      // The logo has the columns 224 to 303 and the rows 16 to 95.
      for (const [x, y] of [
        [228, 20],
        [264, 56],
        [299, 91],
      ] as const) {
        const [r, g, b] = frame.rgb(x, y);
        expect([r > 220, g < 40, b < 40]).toEqual([true, true, true]);
      }
      for (const [x, y] of [
        [216, 56],
        [310, 56],
        [264, 104],
      ] as const) {
        const [r, g, b] = frame.rgb(x, y);
        expect(Math.max(r, g, b) - Math.min(r, g, b)).toBeLessThan(20);
      }
    }
  });

  it('a logo is on every frame of a transparent video', async () => {
    const overlays: readonly Overlay[] = [{ text: 'Hi', position: 90, start: 0.5 }];
    const output = { format: 'apng', clip: { seconds: 1, fps: 10 } } as const;
    const recipe = composed('clip', { kind: 'canvas', width: 200, height: 160 }, overlays, LIMITS, {
      logo: red,
      output,
    });
    const path = work.path('logo.png');
    await renderClip(recipe, path, tools);
    // The first frame, which has no caption.
    expect((await pixelsOf(readFileSync(path))).at(165, 35)).toEqual([255, 0, 0, 255]);
    const webm = work.path('logo.webm');
    await renderClip({ ...recipe, output: { format: 'webm' } }, webm, tools);
    for (const frame of readClip(webm, 20).frames) {
      const [r, g, b] = frame.rgb(165, 35);
      expect([r > 220, g < 40, b < 40]).toEqual([true, true, true]);
    }
  });
});
