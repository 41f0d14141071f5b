// Checks which characters are drawn as color emoji, and that no gray emoji vanishes on a bar over a bright photo.

import { describe, expect, it } from 'vitest';
import { emojiContext, isGrayAndFaint } from '../scripts/generate-gray-emoji.ts';
import { isEmoji, splitByKind } from '../src/engine/layout/emoji.ts';
import { GRAY_EMOJI } from '../src/engine/layout/gray-emoji.generated.ts';
import { layoutOverlays } from '../src/engine/layout/layout.ts';
import { bakeBands } from '../src/engine/raster/blend.ts';
import { TextEngine } from '../src/engine/raster/text-engine.ts';
import { dataLines } from './text-data.ts';

const engine = new TextEngine();
const CANVAS = { width: 320, height: 320 };

/** The RGB channels of the pixels of a caption on a canvas of one gray level. */
function bakedOn(background: number, text: string): Uint8Array {
  const layout = layoutOverlays([{ text, position: null }], CANVAS, (caption) => engine.measurerFor(caption));
  const data = new Uint8Array(CANVAS.width * CANVAS.height * 3).fill(background);
  bakeBands({ ...CANVAS, channels: 3, data }, engine.draw(layout));
  return data;
}

function kindsOf(text: string): string[] {
  return splitByKind(text).map(({ text: piece, kind }) => `${piece} ${kind}`);
}

describe('an emoji without a selector', () => {
  it.each(Array.from('❤♥☺☹✌☝☀☁❄✈☎⚠🌶🕊🛠🖐🏍👁🅰🈂🌡🗑🐿'))(
    'an emoji without a selector is drawn in color, as on a phone: %s',
    (char) => {
      expect(isEmoji(char)).toBe(true);
      expect(isEmoji(`${char}\ufe0e`)).toBe(false);
    },
  );

  it.each(Array.from('0123456789#*©®™→←↑↓↔↗ℹ‼⁉〰✔✖♠♣★☆♪✓'))('an emoji without a selector stays text: %s', (char) => {
    expect(isEmoji(char)).toBe(false);
  });

  it.each(Array.from('🀀🂡🄰🅐🞄🡒🠐'))(
    'an emoji without a selector stays text when it is only a symbol of the same planes: %s',
    (char) => {
      expect(isEmoji(char)).toBe(false);
    },
  );
});

describe('parts of emoji that stand alone', () => {
  it.each(['🇦', '🇿', '🏻', '🏿'])('parts of emoji that stand alone come from the emoji font: %s', (text) => {
    expect(kindsOf(text)).toEqual([`${text} emoji`]);
    expect(engine.drawable(text)).toEqual({ text, missingGlyphs: 0 });
  });

  it('parts of emoji are separated from letters, which Unicode would combine with a skin tone', () => {
    expect(kindsOf('a🏽 1🏽')).toEqual(['a text', '🏽 emoji', ' 1 text', '🏽 emoji']);
    expect(engine.drawable('a🏽').missingGlyphs).toBe(0);
    expect(kindsOf('👍🏽')).toEqual(['👍🏽 emoji']);
  });
});

describe('emoji newer than the Unicode data of Node.js 20', () => {
  const EMOJI_16 = ['🫩', '🫆', '🪾', '🫜', '🪉', '🪏', '🫟', '🇨🇶'];
  const EMOJI_17 = ['🫪', '🫯', '🫈', '🛘', '🫍', '🪊', '🪎', '🧑‍🩰', '👯🏽', '🤼🏿', '🧑🏽‍🩰'];

  it.each([...EMOJI_16, ...EMOJI_17])('an emoji newer than the Unicode data of Node.js 20 is one emoji: %s', (text) => {
    expect(kindsOf(text)).toEqual([`${text} emoji`]);
    expect(engine.drawable(text)).toEqual({ text, missingGlyphs: 0 });
    const measurer = engine.measurerFor(text);
    const [own, usual] = [text, '😀'].map((emoji) => measurer.measure({ text: emoji, kind: 'emoji', rtl: false }, 100));
    expect(own?.width).toBeCloseTo(usual?.width ?? 0, 1);
  });
});

describe('gray emoji', () => {
  it.each([...GRAY_EMOJI])('gray emoji are white on a bar over white: %s', (char) => {
    expect(Math.max(...bakedOn(255, `${char}\ufe0f`).subarray(CANVAS.width * 144 * 3, CANVAS.width * 176 * 3))).toBe(
      255,
    );
  });

  it('gray emoji are drawn in the same white as text, also beside color emoji', () => {
    expect(kindsOf('New 🎵🎶 song 🎉')).toEqual(['New  text', '🎵🎶 gray-emoji', ' song  text', '🎉 emoji']);
    const pixels = bakedOn(0, '➕🎵✔️');
    const colored = pixels.filter(
      (_, at) => at % 3 === 0 && (pixels[at] !== pixels[at + 1] || pixels[at] !== pixels[at + 2]),
    );
    expect(colored.length).toBe(0);
  });

  it('gray emoji include those that captions use most', () => {
    const usual = ['🎵', '🎶', '🎼', '✔', '➕', '➖', '➗', '✖', '🟰', '〰', '➰', '➿', '©', '®', '™'];
    expect(usual.filter((char) => !GRAY_EMOJI.has(char))).toEqual([]);
  });

  it('exclude emoji whose meaning is a color', () => {
    expect(['🖤', '⚫', '⬛', '◼', '🏿', '🩶'].filter((char) => GRAY_EMOJI.has(char))).toEqual([]);
  });
});

describe('the emoji of emoji-test.txt', () => {
  it('emoji are listed as gray exactly if measuring them says so', () => {
    const all = dataLines('emoji-test.txt')
      .filter((line) => /;\s*fully-qualified/u.test(line))
      .map((line) => (line.split(';')[0] ?? '').trim().split(' '))
      .map((codes) => String.fromCodePoint(...codes.map((code) => Number.parseInt(code, 16))));
    expect(all).toHaveLength(3_655);
    const context = emojiContext();
    const wrong = all.filter((emoji) => isGrayAndFaint(context, emoji) !== GRAY_EMOJI.has(emoji.replace('\ufe0f', '')));
    expect(wrong).toEqual([]);
  });
});
