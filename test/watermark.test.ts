// Two attacks on a watermark. The first enlarges the canvas on any side, renders with a test key, and crops the result: the mark
// must still be on all parts of the image and on every line of text. The second renders a caption several times in one file and
// takes each pixel of its letters from a copy without a mark there: all copies must have the mark at the same places.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import type { Overlay } from '../src/engine/caption/overlay.ts';
import type { CaptionStyle } from '../src/engine/caption/style.ts';
import { STYLE_PRESETS, type StylePreset } from '../src/engine/caption/style-presets.ts';
import { probeImage } from '../src/engine/media/image.ts';
import { strokesFor } from '../src/engine/layout/watermark.ts';
import { must } from '../src/shared/must.ts';
import { layOut } from '../src/engine/render/bands.ts';
import { composeImageRecipe, composeTransparentRecipe, DEFAULT_IMAGE_LIMITS } from '../src/engine/render/recipe.ts';
import { renderOnImage, renderTransparent } from '../src/engine/render/render.ts';
import { createRenderTools } from '../src/engine/render/renderer-tools.ts';
import { Stopwatch } from '../src/engine/render/timing.ts';
import type { VideoRecipe } from '../src/engine/render/video-recipe.ts';
import { decode, type Pixels } from './pictures.ts';
import { hasSharedMedia, sharedMedia } from './shared-media.ts';
import { BT709, paintYuv, quadrants } from './video/painting.ts';
import { plainClip } from './video/plain-clip.ts';
import { renderClip, workDirectory } from './video/render-clip.ts';

const tools = createRenderTools();
const folder = workDirectory();
afterAll(() => folder.remove());

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The place of the attacker's image on the padded canvas. */
const IMAGE = { width: 300, height: 400 };
const PADDINGS = [
  { left: 0, top: 0, right: 0, bottom: 0 },
  { left: 0, top: 0, right: 61, bottom: 83 },
  { left: 157, top: 0, right: 0, bottom: 0 },
  { left: 0, top: 211, right: 0, bottom: 0 },
  { left: 300, top: 400, right: 300, bottom: 400 },
  { left: 7, top: 900, right: 1_200, bottom: 5 },
] as const;
const SMALL: CaptionStyle = { size: 0.5 };
const STYLES: readonly CaptionStyle[] = [
  SMALL,
  { preset: 'box', size: 0.7 },
  { preset: 'plain', size: 0.5, align: 'left' },
];

type Padding = Readonly<Record<'left' | 'top' | 'right' | 'bottom', number>>;

function placed({ left, top, right, bottom }: Padding): { canvas: typeof IMAGE; image: Box } {
  const canvas = { width: IMAGE.width + left + right, height: IMAGE.height + top + bottom };
  return { canvas, image: { left, top, ...IMAGE } };
}

/** Captions on the image, and one beside it. */
function overlaysOn({ canvas, image }: ReturnType<typeof placed>, style: CaptionStyle): readonly Overlay[] {
  const at = (share: number): number => (100 * (image.top + share * image.height)) / canvas.height;
  return [
    { text: 'First line of this\nsecond', position: at(0.3), style },
    { text: 'A caption 🎉 with a few words in it', position: at(0.8), style },
  ];
}

/** Returns whether the pixels of the box differ anywhere. */
function differsIn(one: Pixels, other: Pixels, { left, top, width, height }: Box): boolean {
  for (let row = Math.max(0, Math.ceil(top)); row < Math.min(one.height, top + height); row += 1) {
    const from = (row * one.width + Math.max(0, Math.ceil(left))) * one.channels;
    const to = (row * one.width + Math.min(one.width, Math.floor(left + width))) * one.channels;
    if (Buffer.compare(one.data.subarray(from, to), other.data.subarray(from, to)) !== 0) return true;
  }
  return false;
}

/** The tiles of the image. Width and height of one are together as long as the distance of two strokes. */
function tilesOf({ left, top, width, height }: Box, side: number): Box[] {
  const [columns, rows] = [Math.floor(width / side), Math.floor(height / side)];
  return Array.from({ length: columns * rows }, (_, index) => ({
    left: left + (index % columns) * side,
    top: top + Math.floor(index / columns) * side,
    width: side,
    height: side,
  }));
}

async function linesOf(canvas: typeof IMAGE, overlays: readonly Overlay[]): Promise<Box[]> {
  const { layout } = await layOut({ canvas, overlays }, tools, new Stopwatch());
  return layout.bars.flatMap(({ top, lines, fontSize }) =>
    lines.map((line) => ({
      left: line.x,
      width: line.width,
      top: top + line.baseline - 0.72 * fontSize,
      height: 0.72 * fontSize,
    })),
  );
}

/** Returns the parts of the image and the lines of text that are the same with a live key and with a test key. */
async function unmarkedBoxes(
  padding: Padding,
  style: CaptionStyle,
  render: (watermark: boolean, where: ReturnType<typeof placed>, overlays: readonly Overlay[]) => Promise<Pixels>,
): Promise<Box[]> {
  const where = placed(padding);
  const overlays = overlaysOn(where, style);
  const [live, test] = [await render(false, where, overlays), await render(true, where, overlays)];
  const side = Math.ceil(strokesFor(where.canvas).period / 2) + 2;
  const boxes = [...tilesOf(where.image, side), ...(await linesOf(where.canvas, overlays))];
  return boxes.filter((box) => !differsIn(live, test, box));
}

const marked = (watermark: boolean): { watermark?: true } => (watermark ? { watermark: true } : {});

async function canvasFile({ canvas, image }: ReturnType<typeof placed>, format: 'png' | 'jpeg'): Promise<Buffer> {
  const gradient = Buffer.from(
    `<svg width="${image.width}" height="${image.height}"><linearGradient id="g"><stop offset="0" stop-color="#fff"/>
     <stop offset="1" stop-color="#234"/></linearGradient><rect width="100%" height="100%" fill="url(#g)"/></svg>`,
  );
  return await sharp({ create: { ...canvas, channels: 3, background: '#fff' } })
    .composite([{ input: gradient, left: image.left, top: image.top }])
    .removeAlpha()
    .toFormat(format)
    .toBuffer();
}

describe('after padding and cropping, the watermark is on the image and on every line of text', () => {
  const formats = [
    ['png', 'png'],
    ['png', 'webp'],
    ['png', 'jpeg'],
    ['jpeg', 'jpeg'],
  ] as const;
  it.each(formats)('the watermark survives padding and cropping on a %s rendered as %s', async (source, format) => {
    for (const [index, padding] of PADDINGS.entries()) {
      const style = STYLES[index % STYLES.length] ?? SMALL;
      const unmarked = await unmarkedBoxes(padding, style, async (watermark, where, overlays) => {
        const asset = await canvasFile(where, source);
        const recipe = composeImageRecipe(await probeImage(asset), overlays, DEFAULT_IMAGE_LIMITS, {
          output: { format },
        });
        const { bytes, sourcePixels } = await renderOnImage({ ...recipe, ...marked(watermark) }, asset, tools);
        // Both keys use the same path, so that callers can test what they will get.
        expect(sourcePixels).toBe(format !== 'jpeg' ? undefined : source === 'jpeg' ? 'kept' : 'reencoded');
        return await decode(bytes);
      });
      expect({ padding, unmarked }).toEqual({ padding, unmarked: [] });
    }
  });

  it.each(['png', 'webp'] as const)(
    'the watermark survives padding and cropping on a transparent overlay as %s',
    async (format) => {
      for (const padding of PADDINGS) {
        const unmarked = await unmarkedBoxes(padding, SMALL, async (watermark, { canvas }, overlays) => {
          const recipe = composeTransparentRecipe(canvas, overlays, { format });
          return await decode((await renderTransparent({ ...recipe, ...marked(watermark) }, tools)).bytes);
        });
        expect({ padding, unmarked }).toEqual({ padding, unmarked: [] });
      }
    },
  );

  it('the watermark survives padding and cropping on a video, at the same places in all frames', async () => {
    for (const padding of [PADDINGS[1], PADDINGS[3]]) {
      const { canvas } = placed(padding);
      const [width, height] = [canvas.width + (canvas.width % 2), canvas.height + (canvas.height % 2)];
      const paint = paintYuv(quadrants(width, height), BT709);
      const source = plainClip(folder.path('source.mp4'), { width, height, frames: 2, paint });
      const unmarked = await unmarkedBoxes(padding, SMALL, async (watermark, _where, overlays) => {
        const mark = (recipe: VideoRecipe): VideoRecipe => ({ ...recipe, ...marked(watermark) });
        const { clip } = await renderClip(source, folder.path('out.mp4'), overlays, {}, mark);
        const frame = must(clip.frames[1], 'the second frame');
        const greens = Array.from(
          { length: width * height },
          (_, at) => frame.rgb(at % width, Math.floor(at / width))[1],
        );
        // Coding noise isn't a mark, so brightness is compared in coarse steps, which are far from those of the quadrants.
        return { width, height, channels: 1, data: Buffer.from(greens.map((green) => green >> 5)) };
      });
      expect({ padding, unmarked }).toEqual({ padding, unmarked: [] });
    }
  });
});

/** A color that nothing else has, so letters can be told from what is around them. */
const INK = [255, 238, 0] as const;
const INK_COLOR = '#ffee00';
/** Greater than the coding noise of a video. */
const NOISE = 20;

/** How high the pixels of letters above their baseline are that the watermark hides in all these lines, in 200ths of an em. */
async function hiddenInAll(canvas: typeof IMAGE, overlays: readonly Overlay[], render: RenderKey): Promise<number[]> {
  const letters = await decode((await renderTransparent(composeTransparentRecipe(canvas, overlays), tools)).bytes);
  const [live, test] = [await render(false), await render(true)];
  const { layout } = await layOut({ canvas, overlays }, tools, new Stopwatch());
  const isInk = (at: number): boolean =>
    INK.every((value, channel) => letters.data[at * 4 + channel] === value) && letters.data[at * 4 + 3] === 255;
  const isHidden = (at: number): boolean =>
    Array.from({ length: test.channels }, (_, channel) => at * test.channels + channel).some(
      (index) => Math.abs((live.data[index] ?? 0) - (test.data[index] ?? 0)) > NOISE,
    );
  const isRowHidden = (row: number, from: number, to: number): boolean => {
    const columns = Array.from({ length: to - from }, (_, index) => row * canvas.width + from + index);
    const ink = columns.filter(isInk);
    return ink.length > 0 && ink.every(isHidden);
  };
  const lines = layout.bars.flatMap((bar) => bar.lines.map((line) => ({ ...line, bar })));
  return Array.from({ length: 150 }, (_, height) => height).filter((height) =>
    lines.every(({ bar, baseline, x, width }) => {
      const row = Math.floor(bar.top + baseline - (height / 200) * bar.fontSize);
      return isRowHidden(row, Math.max(0, Math.floor(x)), Math.min(canvas.width, Math.ceil(x + width)));
    }),
  );
}

type RenderKey = (watermark: boolean) => Promise<Pixels>;

const TEXT = 'Every letter once more';
/** The ways to put one caption on a canvas several times, in copies that are then laid over each other. */
const COPIES: readonly (readonly [name: string, canvas: typeof IMAGE, overlays: readonly Overlay[]])[] = [
  [
    'two copies, one above the other',
    { width: 600, height: 800 },
    [20, 73].map((position) => ({ text: TEXT, position })),
  ],
  ['three copies', { width: 640, height: 900 }, [11, 47, 86].map((position) => ({ text: TEXT, position }))],
  [
    'two copies side by side',
    { width: 1_200, height: 600 },
    (['left', 'right'] as const).map((align) => ({
      text: TEXT.replace('once', 'once\n'),
      position: 50,
      // The bar of one copy would darken the other one.
      style: { align, background: '#00000000' },
    })),
  ],
  [
    'copies of different sizes',
    { width: 900, height: 1_200 },
    [0.9, 1, 1.03, 1.7].map((size, index) => ({ text: TEXT, position: 15 + 23 * index, style: { size } })),
  ],
  [
    'copies with different line breaks',
    { width: 800, height: 1_000 },
    [TEXT, TEXT.replaceAll(' ', '\n'), `- ${TEXT}`].map((text, index) => ({ text, position: 15 + 33 * index })),
  ],
];

describe('a caption in several copies', () => {
  const styled = (overlays: readonly Overlay[], preset: StylePreset): Overlay[] =>
    overlays.map((overlay) => ({ ...overlay, style: { ...overlay.style, preset, color: INK_COLOR } }));
  /** A twentieth of an em: at least half of the strokes. */
  const MIN_HIDDEN = 10;

  it.each(COPIES)(
    'a caption in several copies has the watermark at the same places of its letters: %s',
    async (_, canvas, copies) => {
      for (const preset of STYLE_PRESETS) {
        const overlays = styled(copies, preset);
        const asset = await canvasFile({ canvas, image: { left: 0, top: 0, ...canvas } }, 'png');
        const image = composeImageRecipe(await probeImage(asset), overlays, DEFAULT_IMAGE_LIMITS);
        const hidden = await hiddenInAll(canvas, overlays, async (watermark) =>
          decode((await renderOnImage({ ...image, ...marked(watermark) }, asset, tools)).bytes),
        );
        expect({ preset, isHidden: hidden.length >= MIN_HIDDEN }).toEqual({ preset, isHidden: true });
      }
    },
  );

  it.each(COPIES.slice(0, 3))(
    'a caption in several copies has the watermark at the same places of its letters in a video: %s',
    async (_, canvas, copies) => {
      const overlays = styled(copies, 'box');
      const source = plainClip(folder.path('copies.mp4'), {
        ...canvas,
        frames: 2,
        paint: paintYuv(quadrants(canvas.width, canvas.height), BT709),
      });
      const hidden = await hiddenInAll(canvas, overlays, async (watermark) => {
        const mark = (recipe: VideoRecipe): VideoRecipe => ({ ...recipe, ...marked(watermark) });
        const { clip } = await renderClip(source, folder.path('out.mp4'), overlays, {}, mark);
        const frame = must(clip.frames[1], 'the second frame');
        const data = Buffer.alloc(canvas.width * canvas.height * 3);
        for (let at = 0; at < canvas.width * canvas.height; at += 1) {
          data.set(frame.rgb(at % canvas.width, Math.floor(at / canvas.width)), at * 3);
        }
        return { ...canvas, channels: 3, data };
      });
      expect(hidden.length).toBeGreaterThanOrEqual(MIN_HIDDEN);
    },
  );
});

const JPEGS = hasSharedMedia
  ? ['jpeg_variants', 'jpeg_orientation', 'jpeg_corrupt', 'jpeg_photos'].flatMap((name) =>
      readdirSync(sharedMedia(name)).map((file) => sharedMedia(`${name}/${file}`)),
    )
  : [];

describe.skipIf(!hasSharedMedia)('a JPEG with the watermark (skipped without ../shared/media)', () => {
  it('a JPEG with the watermark reports whether a live key would get the pixels of the source', async () => {
    const reports: Record<string, (string | undefined)[]> = {};
    for (const file of JPEGS.filter((name) => statSync(name).size < 300_000)) {
      const asset = readFileSync(file);
      const overlays = [{ text: 'Hello', position: 50 }];
      const reported = async (watermark: boolean): Promise<string | undefined> => {
        const options = { output: { format: 'jpeg' } } as const;
        const recipe = composeImageRecipe(await probeImage(asset), overlays, DEFAULT_IMAGE_LIMITS, options);
        return (await renderOnImage({ ...recipe, ...marked(watermark) }, asset, tools)).sourcePixels;
      };
      const results = [false, true].map(async (watermark) => await reported(watermark).catch(() => 'refused'));
      reports[file] = await Promise.all(results);
    }
    expect(Object.entries(reports).filter(([, [live, test]]) => live !== test)).toEqual([]);
    expect(Object.values(reports).flat()).toContain('kept');
  });
});

describe('the watermark', () => {
  it('the watermark replaces pixels, so that nothing of what is below can be seen', async () => {
    const overlays = [{ text: 'Hello', position: 50 }];
    const render = async (background: string): Promise<Pixels> => {
      const asset = await sharp({ create: { ...IMAGE, channels: 3, background } })
        .png()
        .toBuffer();
      const recipe = composeImageRecipe(await probeImage(asset), overlays, DEFAULT_IMAGE_LIMITS);
      return await decode((await renderOnImage({ ...recipe, watermark: true }, asset, tools)).bytes);
    };
    const [black, white] = [await render('#000'), await render('#fff')];
    const same = Array.from({ length: black.width * 100 }, (_, pixel) => pixel).filter((pixel) =>
      [0, 1, 2].every((channel) => black.data[pixel * 3 + channel] === white.data[pixel * 3 + channel]),
    );
    const { period, tone } = strokesFor(IMAGE);
    expect(same.length / (black.width * 100)).toBeCloseTo((2 * tone) / period, 2);
    expect(new Set(same.map((pixel) => black.data[pixel * 3]))).toEqual(new Set([200, 90]));
  });

  it('the watermark makes a transparent overlay that, laid over the image, equals the rendered image', async () => {
    const overlays = STYLE_PRESETS.map((preset, index) => ({
      text: 'Hello 🎉\nthere',
      position: (100 * (index + 0.5)) / STYLE_PRESETS.length,
      style: { preset },
    }));
    const asset = await canvasFile(placed(PADDINGS[0]), 'png');
    const image = composeImageRecipe(await probeImage(asset), overlays, DEFAULT_IMAGE_LIMITS);
    const baked = await decode((await renderOnImage({ ...image, watermark: true }, asset, tools)).bytes);
    const overlay = await renderTransparent({ ...composeTransparentRecipe(IMAGE, overlays), watermark: true }, tools);
    const laid = await sharp(asset)
      .composite([{ input: overlay.bytes }])
      .removeAlpha()
      .raw()
      .toBuffer();
    const difference = laid.reduce((most, value, at) => Math.max(most, Math.abs(value - (baked.data[at] ?? 0))), 0);
    // The library that composites it rounds in another way.
    expect(difference).toBeLessThanOrEqual(1);
  });
});
