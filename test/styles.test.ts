// What styles promise about pixels: the baked result equals the overlay, labels stay in their rectangle, and emoji keep
// their colors.

import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { STYLE_PRESETS } from '../src/engine/caption/style-presets.ts';
import { renderImage, renderOverlay } from '../src/engine/index.ts';
import { bakeBands } from '../src/engine/raster/blend.ts';
import { drawBands } from '../src/engine/render/bands.ts';
import { createRenderTools } from '../src/engine/render/renderer-tools.ts';
import { Stopwatch } from '../src/engine/render/timing.ts';
import { decode, type Pixels, pixelAt, plainPng } from './pictures.ts';

const SIZE = { width: 240, height: 200 };
const TEXT = 'Wide enough 🎉🎵\nfor two';

async function overlayOf(style: object, text = TEXT): Promise<Pixels> {
  const { bytes } = await renderOverlay(SIZE, [{ text, style }]);
  return await decode(bytes);
}

function columnsAndRows(pixels: Pixels): { left: number; right: number; top: number; bottom: number } {
  const [xs, ys]: [number[], number[]] = [[], []];
  for (let y = 0; y < pixels.height; y += 1) {
    for (let x = 0; x < pixels.width; x += 1) {
      if ((pixelAt(pixels, x, y)[3] ?? 0) === 0) continue;
      xs.push(x);
      ys.push(y);
    }
  }
  return { left: Math.min(...xs), right: Math.max(...xs) + 1, top: Math.min(...ys), bottom: Math.max(...ys) + 1 };
}

describe.each(STYLE_PRESETS)('the preset %s', (preset) => {
  it('every preset looks the same baked into a photo and as an overlay over it', async () => {
    const photo = await sharp({
      create: { ...SIZE, channels: 3, background: '#888', noise: { type: 'gaussian', mean: 128, sigma: 60 } },
    })
      .png()
      .toBuffer();
    const captions = [
      { text: TEXT, position: 30, style: preset },
      { text: 'overlapping 🌅', position: 45, style: preset },
    ];
    const baked = await decode((await renderImage(photo, captions)).bytes);
    const overlay = await decode((await renderOverlay(SIZE, captions)).bytes);
    const source = await decode(photo);
    let largest = 0;
    for (let at = 0; at < source.data.length; at += 1) {
      const pixel = Math.floor(at / 3) * 4;
      const alpha = overlay.data[pixel + 3] ?? 0;
      const over = ((overlay.data[pixel + (at % 3)] ?? 0) * alpha + (source.data[at] ?? 0) * (255 - alpha)) / 255;
      largest = Math.max(largest, Math.abs(Math.round(over) - (baked.data[at] ?? 0)));
    }
    expect(largest).toBeLessThanOrEqual(preset === 'plain' ? 1 : 0);
  });

  it('every preset keeps the colors of emoji', async () => {
    const pixels = await overlayOf({ preset, size: 3 }, '🔴');
    expect(pixelAt(pixels, SIZE.width / 2, SIZE.height / 2)).toEqual([244, 67, 54, 255]);
  });

  it('every preset draws gray emoji in the color of the text', async () => {
    const pixels = await overlayOf({ preset, size: 3, color: '#3366cc' }, '➕');
    expect(pixelAt(pixels, SIZE.width / 2, SIZE.height / 2)).toEqual([0x33, 0x66, 0xcc, 255]);
  });
});

describe('a box', () => {
  it('a box leaves the photo beside it as it was', async () => {
    const photo = await plainPng(SIZE.width, SIZE.height, '#abcdef');
    const { data, width, channels } = await decode((await renderImage(photo, [{ text: 'Hi', style: 'box' }])).bytes);
    expect([...data.subarray(100 * width * channels, 100 * width * channels + 3)]).toEqual([0xab, 0xcd, 0xef]);
  });

  it('a box has square edges on whole pixels between its round corners', async () => {
    const pixels = await overlayOf({ preset: 'box', size: 1 }, 'Label');
    const { left, right, top, bottom } = columnsAndRows(pixels);
    for (const x of [left, right - 1]) expect(pixelAt(pixels, x, 100)).toEqual([0, 0, 0, 255]);
    for (const y of [top, bottom - 1]) expect(pixelAt(pixels, 120, y)).toEqual([0, 0, 0, 255]);
    for (const x of [left, right - 1])
      for (const y of [top, bottom - 1]) expect(pixelAt(pixels, x, y)[3]).toBeLessThan(99);
  });

  it('a small box has no faint pixels beside its edges', async () => {
    for (const size of [0.6, 0.8, 1, 1.25]) {
      const pixels = await overlayOf({ preset: 'box', size }, 'Label');
      const { left, right } = columnsAndRows(pixels);
      const rows = Array.from({ length: SIZE.height }, (_, y) => y);
      for (const x of [left, right - 1]) {
        const opaque = rows.filter((y) => pixelAt(pixels, x, y)[3] === 255);
        expect([size, x, opaque.length > 3]).toEqual([size, x, true]);
      }
    }
  });

  it('a box has the same space on both sides of its text', async () => {
    const pixels = await overlayOf({ preset: 'box', size: 2 }, 'HHHH');
    const { left, right } = columnsAndRows(pixels);
    const isText = (x: number): boolean => (pixelAt(pixels, x, 100)[0] ?? 0) > 128;
    const inked = Array.from({ length: SIZE.width }, (_, x) => x).filter(isText);
    const [before, after] = [Math.min(...inked) - left, right - 1 - Math.max(...inked)];
    expect(Math.abs(before - after)).toBeLessThanOrEqual(1);
  });

  it('a box has no label on a blank line', async () => {
    const pixels = await overlayOf({ preset: 'box' }, 'one\n\ntwo');
    expect(pixelAt(pixels, 120, 100)[3]).toBe(0);
  });

  it('a box uses a translucent background once, also where the labels of two lines overlap', async () => {
    const pixels = await overlayOf({ preset: 'box', background: '#ff000080' }, 'll\nll');
    const alphas = new Set<number>();
    for (let at = 0; at < pixels.data.length; at += 4) {
      const isLabel = (pixels.data[at + 1] ?? 0) === 0;
      if (isLabel) alphas.add(pixels.data[at + 3] ?? 0);
    }
    expect(Math.max(...alphas)).toBe(0x80);
  });
});

describe('an outline', () => {
  it('an outline surrounds letters without a gap', async () => {
    const pixels = await overlayOf({ preset: 'outline', size: 3 }, 'O');
    const alphas = Array.from({ length: SIZE.width / 2 }, (_, x) => pixelAt(pixels, x, 100)[3] ?? 0);
    const first = alphas.findIndex((alpha) => alpha > 128);
    // From the outline inward, everything is opaque for the width of the outline and of the stem.
    expect(alphas.slice(first + 1, first + 5)).toEqual([255, 255, 255, 255]);
    expect(pixelAt(pixels, first, 100).slice(0, 3)).toEqual([0, 0, 0]);
  });

  it('an outline leaves emoji out', async () => {
    const pixels = await overlayOf({ preset: 'outline', size: 3 }, '🔴');
    const row = Array.from({ length: SIZE.width }, (_, x) => pixelAt(pixels, x, 100));
    expect(row.filter(([red = 0, , , alpha = 0]) => alpha > 128 && red < 100)).toEqual([]);
  });

  it("doesn't show through translucent text", async () => {
    const pixels = await overlayOf({ preset: 'outline', size: 3, color: '#ffffff80', weight: 'bold' }, 'I');
    expect(pixelAt(pixels, 120, 100)).toEqual([255, 255, 255, 128]);
  });
});

describe('a shadow', () => {
  it('a shadow fades to nothing inside its band, without steps of more than a few levels', async () => {
    const canvas = { width: 900, height: 900 };
    const overlays = [{ text: 'Shadow', position: 50, style: { preset: 'plain', size: 3 } as const }];
    const { bands } = await drawBands({ canvas, overlays }, createRenderTools(), new Stopwatch());
    expect(bands).toHaveLength(1);
    const image = { ...canvas, channels: 3 as const, data: new Uint8Array(900 * 900 * 3).fill(200) };
    bakeBands(image, bands);
    const [band] = bands;
    const column = Array.from({ length: 900 }, (_, y) => image.data[(y * 900 + 450) * 3] ?? 0);
    const top = band?.top ?? 0;
    const bottom = top + (band?.height ?? 0);
    expect(column.slice(0, top + 2).every((value) => value === 200)).toBe(true);
    expect(column.slice(bottom - 2).every((value) => value === 200)).toBe(true);
    const start = column.findIndex((value) => value !== 200);
    const firstInk = column.findIndex((value) => value > 200);
    expect(firstInk - start).toBeGreaterThan(20);
    for (let y = start; y < firstInk - 3; y += 1) {
      expect(Math.abs((column[y] ?? 0) - (column[y - 1] ?? 0))).toBeLessThanOrEqual(8);
    }
  });
});

describe('alignment', () => {
  it.each([
    ['left', 'Hello', 9.6],
    ['left', 'שלום', 9.6],
  ])('alignment is physical: %s-aligned %s starts at the left margin', async (align, text, margin) => {
    const { left } = columnsAndRows(await overlayOf({ preset: 'box', size: 1, align }, text));
    expect(left).toBe(Math.round(margin));
  });

  it.each(['Hello', 'שלום'])('alignment is physical: right-aligned %s ends at the right margin', async (text) => {
    const { right } = columnsAndRows(await overlayOf({ preset: 'box', size: 1, align: 'right' }, text));
    expect(right).toBe(Math.round(SIZE.width - 9.6));
  });
});

describe('bold', () => {
  const inkOf = async (text: string, weight: string): Promise<number> => {
    const { data } = await overlayOf({ preset: 'box', weight, size: 2 }, text);
    return data.reduce((sum, value, index) => sum + (index % 4 === 0 ? value : 0), 0);
  };

  it.each(['Hello', 'नमस्ते', 'مرحبا', 'สวัสดี', '日本語', 'Ặ'])('bold is heavier than regular: %s', async (text) => {
    expect(await inkOf(text, 'bold')).toBeGreaterThan(1.15 * (await inkOf(text, 'regular')));
  });

  it('bold falls back to regular, with a warning, where there is no bold font', async () => {
    const text = 'ᚱᚢᚾᛖ';
    expect(await inkOf(text, 'bold')).toBe(await inkOf(text, 'regular'));
    expect((await renderOverlay(SIZE, text, { style: { weight: 'bold' } })).warnings).toEqual(['no_bold']);
    expect((await renderOverlay(SIZE, 'Hello 🎉 ➕ →', { style: { weight: 'bold' } })).warnings).toEqual([]);
  });
});

describe('warnings of styles', () => {
  it.each([
    [{ preset: 'box', color: '#333333' }, ['low_contrast']],
    [{ preset: 'box', color: '#777777' }, []],
    [{ background: '#ffffff' }, ['low_contrast']],
    [{ background: '#fffffffe' }, []],
    [{ preset: 'box', color: '#ffffff20' }, ['low_contrast']],
    [{ preset: 'outline', color: '#000000' }, []],
  ] as const)('name a low contrast with an opaque background: %j gives %j', async (style, warnings) => {
    expect((await renderOverlay(SIZE, 'Hi', { style })).warnings).toEqual(warnings);
  });

  it('compare a shrunk caption with the size that was asked for', async () => {
    expect((await renderOverlay(SIZE, 'Hi', { style: { size: 3 } })).warnings).toEqual([]);
    const long = 'Seven words are far too long here';
    expect((await renderOverlay({ width: 240, height: 60 }, long, { style: { size: 3 } })).warnings).toEqual([]);
    expect(
      (await renderOverlay({ width: 100, height: 16 }, `${long}\n`.repeat(4).trim(), { style: { size: 3 } })).warnings,
    ).toEqual(['text_shrunk', 'text_too_small']);
  });

  it("don't call boxes beside each other overlapping", async () => {
    const boxes = (align: 'left' | 'right') => ({ text: 'Hi', position: 50, style: { preset: 'box', align } as const });
    expect((await renderOverlay(SIZE, [boxes('left'), boxes('right')])).warnings).toEqual([]);
    expect((await renderOverlay(SIZE, [boxes('left'), boxes('left')])).warnings).toEqual(['bars_overlap']);
  });
});
