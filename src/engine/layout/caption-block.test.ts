import { describe, expect, it } from 'vitest';
import { fakeMeasurer } from '../../../test/fake-measurer.ts';
import { type CaptionBlock, layoutCaption } from './caption-block.ts';
import { layoutOverlays } from './layout.ts';
import type { Measurer } from './measurer.ts';
import { scaleFor } from './style.ts';

const STORY = { width: 1080, height: 1920 };

function block(text: string, width: number, height: number, measurer: Measurer = fakeMeasurer): CaptionBlock {
  const canvas = { width, height };
  return layoutCaption(text, canvas, scaleFor(canvas), measurer);
}

/** Returns a measurer whose ink extends this many em above and below the baseline. */
function inked(ascent: number, descent: number): Measurer {
  return {
    ...fakeMeasurer,
    measure: (run, size) => ({ ...fakeMeasurer.measure(run, size), ascent: ascent * size, descent: descent * size }),
  };
}

/** A measurer whose letters have their ink there, in em above the baseline. */
function lettered(top: number, bottom: number, centerOfGravity: number, markedTop: number = top): Measurer {
  return {
    ...fakeMeasurer,
    letterInk: () => ({ top, markedTop, bottom, markedBottom: bottom, centerOfGravity, area: 1 }),
  };
}

describe('scaleFor', () => {
  it('sets the font size to 4.8 % of the shorter side and the wrap width to 92 % of the width', () => {
    expect(scaleFor(STORY).fontSize).toBeCloseTo(51.84, 9);
    expect(scaleFor({ width: 1920, height: 1080 }).fontSize).toBeCloseTo(51.84, 9);
    expect(scaleFor({ width: 1920, height: 1080 }).wrapWidth).toBeCloseTo(1766.4, 9);
  });
});

describe('scaleFor on a panorama', () => {
  it('keeps the font at 1.2 % of the width beyond 4:1, but at most 12 % of the height', () => {
    expect(scaleFor({ width: 4_000, height: 1_000 }).fontSize).toBe(48);
    expect(scaleFor({ width: 8_000, height: 1_000 }).fontSize).toBeCloseTo(96, 9);
    expect(scaleFor({ width: 16_000, height: 1_000 }).fontSize).toBeCloseTo(120, 9);
    expect(block('Hi', 8_000, 1_000).height).toBe(192);
    expect(block('Hi', 8_192, 16).height).toBe(4);
  });

  it('leaves every canvas up to 4:1, and every tall one, exactly as it would be by its shorter side', () => {
    for (let height = 16; height <= 8_192; height = Math.ceil(height * 1.17)) {
      for (const ratio of [0.002, 0.1, 0.25, 0.5, 1, 1.5, 16 / 9, 3, 3.99, 4]) {
        const width = Math.floor(height * ratio);
        expect(scaleFor({ width, height }).fontSize).toBe(0.048 * Math.min(width, height));
      }
    }
  });
});

describe('layoutCaption: bar height', () => {
  it.each([
    [1080, 1920, 104],
    [1920, 1080, 104],
    [1080, 1080, 104],
    [720, 1280, 69],
    [540, 300, 29],
    [7680, 4320, 415],
    [16, 8192, 2],
    [16, 16, 2],
  ])('a bar of one line is 9.6 %% of the shorter side high (%d x %d: %d)', (width, height, expected) => {
    expect(expected).toBe(Math.round(0.096 * Math.min(width, height)));
    expect(block('Hi', width, height).height).toBe(expected);
  });

  it.each([1, 2, 3, 5, 10])('a bar of %d lines is 1.2 em per line plus 0.8 em of padding high', (lines) => {
    const text = Array.from({ length: lines }, () => 'line').join('\n');
    const { height, lines: laid } = block(text, 1080, 1920);
    expect(laid).toHaveLength(lines);
    expect(height).toBe(Math.round((1.2 * lines + 0.8) * 51.84));
  });

  it('the height of a bar does not change with emoji', () => {
    expect(block('hi 😀', 1080, 1920).height).toBe(104);
    expect(block('😀', 1080, 1920).height).toBe(104);
  });

  it('includes blank lines', () => {
    expect(block('a\n\nb', 1080, 1920).height).toBe(block('a\nb\nc', 1080, 1920).height);
  });
});

describe('layoutCaption: baselines', () => {
  it('center capitals vertically in a one-line bar', () => {
    const { height, lines } = block('Hi', 1080, 1920);
    const capitalHeight = 0.727 * 51.84;
    expect((lines[0]?.baseline ?? 0) - capitalHeight / 2).toBeCloseTo(height / 2, 0);
  });

  it('baselines are higher for letters that hang low, by the same distance in each line, without a change in height', () => {
    const latin = block('a\nb\n🎉', 1080, 1920);
    const raises = (measurer: Measurer): number[] => {
      const { height, lines } = block('a\nb\n🎉', 1080, 1920, measurer);
      expect(height).toBe(latin.height);
      const inPixels = lines.map(({ baseline }, index) => (latin.lines[index]?.baseline ?? 0) - baseline);
      return inPixels.map((raise) => Math.round((raise / 51.84) * 100) / 100);
    };
    expect(raises(lettered(0.727, -0.2, 0.3))).toEqual([0, 0, 0]);
    expect(raises(lettered(0.727, 0, 0.1635))).toEqual([0.14, 0.14, 0.14]);
    expect(raises(lettered(0.727, -0.46, 0.3))).toEqual([0.23, 0.23, 0.23]);
    expect(raises(lettered(0.527, -0.46, 0.3))).toEqual([0.23, 0.23, 0.23]);
    expect(raises(lettered(0.727, -0.46, 0.3, 1.0635))).toEqual([0.1, 0.1, 0.1]);
    expect(raises(lettered(0.727, -5, 0))).toEqual([0.31, 0.31, 0.31]);
  });

  it('baselines are whole pixels, one line height apart', () => {
    const baselines = block('a\nb\nc', 1080, 1920).lines.map(({ baseline }) => baseline);
    expect(baselines.every(Number.isInteger)).toBe(true);
    const [first = 0, second = 0, third = 0] = baselines;
    for (const pitch of [second - first, third - second]) expect(Math.abs(pitch - 62.2)).toBeLessThan(1);
  });
});

describe('layoutCaption: tall and deep ink', () => {
  it('makes the bar taller, but only as far as needed', () => {
    const normal = block('a', 1080, 1920);
    const deep = block('a', 1080, 1920, inked(0.75, 0.9));
    const tall = block('a', 1080, 1920, inked(1.5, 0.2));
    expect(deep.lines[0]?.baseline).toBe(normal.lines[0]?.baseline);
    expect(deep.height - (deep.lines[0]?.baseline ?? 0)).toBeCloseTo(51.84, 0);
    expect(tall.lines[0]?.baseline).toBeCloseTo(1.6 * 51.84, 0);
  });

  it('tall and deep ink does not overlap between neighboring lines', () => {
    const { lines } = block('a\nb', 1080, 1920, inked(1.1, 0.6));
    const [first, second] = lines;
    expect((second?.baseline ?? 0) - (first?.baseline ?? 0)).toBeGreaterThanOrEqual(Math.floor(1.7 * 51.84));
  });

  it('lines have the same distance if the ink of one needs only a little more', () => {
    const measurer: Measurer = {
      ...fakeMeasurer,
      measure: (run, size) => ({ width: size, ascent: (run.text === 'tall' ? 1.2 : 0.75) * size, descent: 0.2 * size }),
    };
    const { height, lines } = block('a\ntall\na', 1080, 1920, measurer);
    const [first = 0, second = 0, third = 0] = lines.map(({ baseline }) => baseline);
    expect(Math.abs(second - first - (third - second))).toBeLessThanOrEqual(1);
    expect(height).toBe(Math.round((1.2 + 1.4 + 2) * 51.84));
  });

  it('tall and deep ink does not change the bar while it stays within ordinary bounds', () => {
    expect(block('a\nb', 1080, 1920, inked(0.95, 0.25)).height).toBe(block('a\nb', 1080, 1920).height);
  });

  it('grows the bar by at most 1.2 em at each edge', () => {
    expect(block('a', 1080, 1920, inked(50, 50)).height).toBe(Math.round((2 + 2 * 1.2) * 51.84));
  });
});

describe('layoutCaption: a caption too tall for the canvas', () => {
  const column = (lines: number): string => Array.from({ length: lines }, () => 'a').join('\n');

  it('a caption too tall for the canvas shrinks to the largest font size that fits', () => {
    const { fontSize, height, lines } = block(column(40), 1080, 1080);
    expect(lines).toHaveLength(40);
    expect(height).toBeLessThanOrEqual(1080);
    expect(height).toBeGreaterThan(1075);
    expect(fontSize).toBeCloseTo(1080 / 48.8, 1);
  });

  it('a caption too tall for the canvas keeps its font size as long as it fits', () => {
    expect(block(column(16), 1080, 1080).fontSize).toBeCloseTo(51.84, 9);
    expect(block(column(17), 1080, 1080).fontSize).toBeLessThan(51.84);
  });

  it('a caption too tall for the canvas shrinks below a readable size rather than losing lines', () => {
    const { fontSize, height, lines } = block(column(90), 400, 400);
    expect(lines).toHaveLength(90);
    expect(height).toBeLessThanOrEqual(400);
    expect(fontSize).toBeLessThan(8);
    expect(fontSize).toBeGreaterThan(3.5);
  });

  it('a caption too tall for the canvas keeps its bar inside the canvas even when no font size fits', () => {
    expect(block(column(90), 16, 16).height).toBeLessThanOrEqual(16);
  });

  it('a caption too tall for the canvas shrinks until the wrapped lines fit as well', () => {
    const { height, lines } = block('word '.repeat(35).trim(), 200, 16);
    expect(height).toBeLessThanOrEqual(16);
    expect(lines.every(({ width }) => width <= 184)).toBe(true);
  });
});

describe('layoutCaption: extreme canvases', () => {
  const text = 'We left at four in the morning and still saw the whole bay turn gold 🌅 before anyone else was awake';

  it.each([
    [16, 16],
    [16, 8192],
    [8192, 16],
    [7680, 4320],
    [1920, 1080],
  ])('a long caption fits into %d x %d, with no line too wide', (width, height) => {
    const laid = block(text, width, height);
    expect(laid.height).toBeLessThanOrEqual(height);
    expect(laid.lines.length).toBeGreaterThan(0);
    for (const line of laid.lines) expect(line.width).toBeLessThanOrEqual(0.92 * width);
  });

  it('breaks lines the same way at every size of one aspect ratio', () => {
    const small = block(text, 540, 960);
    const large = block(text, 2160, 3840);
    const wording = ({ lines }: CaptionBlock): string[] =>
      lines.map((line) => line.runs.map((run) => run.text).join(''));
    expect(wording(large)).toEqual(wording(small));
    expect(large.height / 4).toBeCloseTo(small.height, -0.3);
  });

  it('needs fewer lines on a landscape canvas at the same font size', () => {
    expect(block(text, 1920, 1080).fontSize).toBe(block(text, 1080, 1920).fontSize);
    expect(block(text, 1920, 1080).lines).toHaveLength(2);
    expect(block(text, 1080, 1920).lines).toHaveLength(3);
  });
});

describe('layoutCaption: newlines', () => {
  it('newlines start a new paragraph with its own direction', () => {
    const { lines } = block('שלום abc\nabc שלום', 1080, 1920);
    expect(lines.map((line) => line.runs.map((run) => run.text))).toEqual([
      ['abc', 'שלום '],
      ['abc ', 'שלום'],
    ]);
  });
});

describe('layoutOverlays', () => {
  it('returns one bar per overlay, in order, each with its caption', () => {
    const overlays = [
      { text: 'top', position: 0 },
      { text: 'two\nlines', position: null },
      { text: 'bottom', position: 100 },
    ];
    const { canvas, bars } = layoutOverlays(overlays, STORY, () => fakeMeasurer);
    expect(canvas).toEqual(STORY);
    expect(bars.map(({ text, top, height }) => ({ text, top, height }))).toEqual([
      { text: 'top', top: 0, height: 104 },
      { text: 'two\nlines', top: 1069, height: 166 },
      { text: 'bottom', top: 1816, height: 104 },
    ]);
  });

  it('requests one measurer per caption', () => {
    const requested: string[] = [];
    layoutOverlays(
      ['a', 'b'].map((text) => ({ text, position: null })),
      STORY,
      (caption) => {
        requested.push(caption);
        return fakeMeasurer;
      },
    );
    expect(requested).toEqual(['a', 'b']);
  });
});
