// The fonts that a style can name, drawn by the real engine: even bars, text in the middle, and fallback for single characters.

import { describe, expect, it } from 'vitest';
import { FONT_NAMES, type FontName } from '../src/engine/caption/fonts.ts';
import { STYLE_PRESETS, type StylePreset } from '../src/engine/caption/style-presets.ts';
import { renderOverlay } from '../src/engine/index.ts';
import { type Bar, layoutOverlays } from '../src/engine/layout/layout.ts';
import { must } from '../src/shared/must.ts';
import { TextEngine } from '../src/engine/raster/text-engine.ts';

const CANVAS = { width: 1080, height: 1920 };
const STORY_FONTS = FONT_NAMES.filter((name) => name !== 'inter');
const engine = new TextEngine();

function barOf(text: string, font: FontName, preset: StylePreset = 'bar'): Bar {
  const overlay = { text, position: 50, style: { preset, font, size: 1 } };
  const { bars } = layoutOverlays([overlay], CANVAS, (...caption) => engine.measurerFor(...caption));
  return must(bars[0], 'the bar');
}

function rowsOf({ height, lines }: Bar): number[] {
  return [height, ...lines.map(({ baseline }) => baseline)];
}

/** The first and the last row with ink of the text, from the edges of the bar. */
function inkGaps(bar: Bar): { above: number; below: number } {
  const [band] = engine.draw({ canvas: CANVAS, bars: [bar] });
  const { pixels, width, height } = must(band, 'the band');
  const isInked = (row: number): boolean => {
    for (let column = 0; column < width; column += 1) if ((pixels[(row * width + column) * 4] ?? 0) > 128) return true;
    return false;
  };
  const rows = Array.from({ length: height }, (_, row) => row).filter(isInked);
  return { above: must(rows[0], 'the first row'), below: height - 1 - must(rows.at(-1), 'the last row') };
}

describe.each(STORY_FONTS)('the font %s', (font) => {
  it('has the same size, whatever was drawn before it is measured for the first time', () => {
    const widthIn = (fresh: TextEngine): unknown => {
      const measurerFor = (...caption: Parameters<TextEngine['measurerFor']>) => fresh.measurerFor(...caption);
      const { bars } = layoutOverlays([{ text: 'Golden hour', position: 50, style: { font } }], CANVAS, measurerFor);
      return bars[0]?.lines[0]?.width;
    };
    const after = new TextEngine();
    after.drawWatermark(CANVAS);
    expect(widthIn(after)).toBe(widthIn(new TextEngine()));
  });

  const TEXTS = ['Golden hour', 'Two lines,\njust us', 'Größe ÉÅ, año ☕️'];

  it('has bars with the same height and baselines as Inter', () => {
    for (const text of TEXTS) expect(rowsOf(barOf(text, font))).toEqual(rowsOf(barOf(text, 'inter')));
  });

  // Without a bar around it, tall ink such as that of accents needs space of its own.
  it.each(STYLE_PRESETS)('has nearly the same height and baselines as Inter in the preset %s', (preset) => {
    for (const text of TEXTS) {
      const [own, usual] = [barOf(text, font, preset), barOf(text, 'inter', preset)];
      for (const [index, row] of rowsOf(own).entries()) {
        expect(Math.abs(row - must(rowsOf(usual)[index], 'the row'))).toBeLessThanOrEqual(0.16 * usual.fontSize);
      }
    }
  });

  it('has its capitals in the middle of the bar', () => {
    const bar = barOf('HEH', font);
    const { above, below } = inkGaps(bar);
    expect(Math.abs(above - below)).toBeLessThanOrEqual(0.18 * bar.fontSize);
  });

  it('differs from Inter, and in bold where it has a bold file', () => {
    const width = (weight: 'regular' | 'bold', name: FontName): number =>
      engine
        .measurerFor('Golden hour', undefined, { ...barOf('x', name).look, weight })
        .measure({ text: 'Golden hour', kind: 'text', rtl: false }, 100).width;
    expect(width('regular', font)).not.toBeCloseTo(width('regular', 'inter'), 0);
    const lacksBold = engine.lacksBold('Golden hour', undefined, font);
    expect(lacksBold).toBe(width('regular', font) === width('bold', font) && font !== 'courier-prime');
  });

  it('leaves characters that it lacks to the other fonts, with a warning', async () => {
    const style = { font };
    const plain = await renderOverlay({ width: 300, height: 300 }, [{ text: 'Golden hour ☕️', style }]);
    expect(plain.warnings).toEqual([]);
    const mixed = await renderOverlay({ width: 300, height: 300 }, [{ text: 'Golden 夕焼け שלום', style }]);
    expect(mixed.warnings).toEqual(['font_fallback']);
    expect(engine.fontFamilies('Golden 夕焼け', 'ja', font)).toEqual([font, 'main', 'noto-sans-jp']);
  });

  it('draws scripts that it lacks as large as without it', () => {
    const widthOf = (name: FontName): number =>
      engine
        .measurerFor('夕焼け', 'ja', barOf('x', name).look)
        .measure({ text: '夕焼け', kind: 'text', rtl: false }, 100).width;
    expect(widthOf(font)).toBe(widthOf('inter'));
  });
});

it('an own line of a mixed caption is as wide as its parts', () => {
  const { look } = barOf('x', 'anton');
  const measurer = engine.measurerFor('Hi Ωμ Hi', undefined, look);
  const width = (text: string): number => measurer.measure({ text, kind: 'text', rtl: false }, 100).width;
  expect(width('Hi Ωμ Hi')).toBeCloseTo(width('Hi ') + width('Ωμ ') + width('Hi'), 3);
});
