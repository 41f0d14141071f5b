// Checks the styles without a full-width bar: their defaults, and the warnings about text that is hard to read.

import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { renderImage, renderOverlay } from '../src/engine/index.ts';
import { lookOf } from '../src/engine/layout/look.ts';
import { strictWarnings } from '../src/engine/render/warnings.ts';

async function photo(gray: number, format: 'png' | 'jpeg'): Promise<Buffer> {
  const background = { r: gray, g: gray, b: gray };
  return await sharp({ create: { width: 640, height: 640, channels: 3, background } })
    .toFormat(format)
    .toBuffer();
}

const PLAIN = [{ text: 'Golden hour at the lake', style: { preset: 'plain' } as const }];

describe('the presets', () => {
  it.each(['box', 'box-light', 'outline', 'plain'] as const)(
    '%s is bold and 1.25 times as large by default',
    (preset) => {
      expect(lookOf({ preset })).toMatchObject({ size: 1.25, weight: 'bold' });
      expect(lookOf({ preset, size: 1, weight: 'regular' })).toMatchObject({ size: 1, weight: 'regular' });
    },
  );

  it.each(['bar', 'bar-light'] as const)('%s is regular and of the usual size', (preset) => {
    expect(lookOf({ preset })).toMatchObject({ size: 1, weight: 'regular' });
  });

  it('a script without a bold font has no warning unless bold was requested', async () => {
    const canvas = { width: 640, height: 640 };
    const caption = { text: 'ᠮᠣᠩᠭᠣᠯ' };
    const usual = await renderOverlay(canvas, [{ ...caption, style: { preset: 'box' } }]);
    const bold = await renderOverlay(canvas, [{ ...caption, style: { preset: 'box', weight: 'bold' } }]);
    expect(usual.warnings).toEqual([]);
    expect(bold.warnings).toEqual(['no_bold']);
  });
});

describe('plain text', () => {
  it.each(['png', 'jpeg'] as const)('warns about low contrast on a bright photo: %s', async (format) => {
    const options = format === 'jpeg' ? { format } : {};
    const bright = await renderImage(await photo(250, format), PLAIN, options);
    const dark = await renderImage(await photo(60, format), PLAIN, options);
    expect(bright.warnings).toEqual(['low_contrast']);
    expect(dark.warnings).toEqual([]);
  });
});

describe('text below 8 pixels', () => {
  it('warns that it is too small, which strict accepts', async () => {
    const { warnings } = await renderOverlay({ width: 100, height: 100 }, [{ text: 'Hi' }]);
    expect(warnings).toEqual(['text_too_small']);
    expect(strictWarnings(warnings)).toEqual([]);
    expect(strictWarnings(['text_shrunk', 'text_too_small'])).toEqual(['text_shrunk']);
  });
});
