import { describe, expect, it } from 'vitest';
import { isCjkCaption, runParts } from './run-parts.ts';
import type { HanRegion } from './han-region.ts';

/**
 * Returns the text with `<` where a part moves closer to the previous one, and braces around punctuation for the Han
 * font.
 */
function marked(text: string, region: HanRegion): string {
  return runParts(text, region)
    .map(({ text: part, isHanMark, pull }) => `${pull > 0 ? '<' : ''}${isHanMark ? `{${part}}` : part}`)
    .join('');
}

describe('runParts', () => {
  it.each<[string, HanRegion, string]>([
    ['他说：“今天真好……”我们', 'sc', '他说：<{“}今天真好{……”}我们'],
    ['“你好。”他说', 'sc', '{“}你好。<{”}他说'],
    ['她——你·我', 'sc', '她{——}你{·}我'],
    ['我们Let’s go', 'sc', '我们Let’s go'],
    ['「はい…」', 'jp', '「はい{…}」'],
    ['“はい”、', 'jp', '{“}はい{”}、'],
    ['오늘… ‘네’', 'kr', '오늘{…} {‘}네{’}'],
  ])('takes shared punctuation of %s from the Han font (%s)', (text, region, expected) => {
    expect(marked(text, region)).toBe(expected);
  });

  it.each<[string, HanRegion, string]>([
    ['「『日本』（笑）。」', 'jp', '「<『日本』<（笑）<。<」'],
    ['《書》、『書』。「好」', 'tc', '《書》<、<『書』<。<「好」'],
    ['她問：「好」；', 'tc', '她問：<「好」<；'],
    ['書。」、', 'tc', '書。」<、'],
    ['（《书》），好', 'sc', '（<《书》<）<，好'],
    ['ア・「イ」・ウ', 'jp', 'ア・<「イ」<・ウ'],
    ['（好）你（好）', 'sc', '（好）你（好）'],
    ['(A)(B)', 'sc', '(A)(B)'],
  ])('removes one of two blank halves that meet in %s (%s)', (text, region, expected) => {
    expect(marked(text, region)).toBe(expected);
  });

  it.each(['', 'abc', '「', '“”‘’', '「」「」', '𠮷」「𠮷'])('keeps every character of %j', (text) => {
    expect(
      runParts(text, 'sc')
        .map((part) => part.text)
        .join(''),
    ).toBe(text);
  });
});

describe('isCjkCaption', () => {
  it.each(['你好', '你好 hello', '今日はGood day…', '오늘 meeting', '「はい…」', '我们都在Let’s Go'])(
    '%s counts as a CJK caption',
    (caption) => {
      expect(isCjkCaption(caption)).toBe(true);
    },
  );

  it.each(['', '…', 'Hello “world”', 'I love 日本 — “really”', 'Привет, 你', 'مرحبا…'])(
    '%j does not count as a CJK caption',
    (caption) => {
      expect(isCjkCaption(caption)).toBe(false);
    },
  );
});
