import { describe, expect, it } from 'vitest';
import { fakeMeasurer } from '../../../test/fake-measurer.ts';
import { lineBreaks, PENALTIES } from './break-penalties.ts';
import { analyzeParagraph, layoutParagraph, type Paragraph } from './paragraph.ts';

const EM = 10;

function linesOf(paragraph: Paragraph, columns: number): string[] {
  const lines = layoutParagraph(paragraph, (columns * EM) / 2, EM, fakeMeasurer);
  return lines.map((line) => line.runs.map((run) => run.text).join(''));
}

/** Returns the lines in a column of this many characters, half an em each. */
function shown(text: string, columns: number): string[] {
  return linesOf(analyzeParagraph(text), columns);
}

/** Returns the lines if all breaks were equally good. */
function shownWithoutPenalties(text: string, columns: number): string[] {
  return linesOf(withoutPenalties(analyzeParagraph(text)), columns);
}

function withoutPenalties(paragraph: Paragraph): Paragraph {
  return { ...paragraph, breaks: paragraph.breaks.map((found) => ({ ...found, penalty: 0 })) };
}

describe('line breaks in Korean', () => {
  it.each([
    ['새해 복 많이 받으세요 올해도', 7, ['새해 복 많이', '받으세요', '올해도']],
    ['우리 BTS콘서트를 2024년 봄에', 9, ['우리', 'BTS콘서트를', '2024년 봄에']],
    ['대한민국만세대한민국만세', 8, ['대한민국만세', '대한민국만세']],
  ])('Korean words of %s stay together as far as they fit', (text, columns, lines) => {
    expect(shown(text, columns)).toEqual(lines);
  });
});

describe('line breaks around emoji', () => {
  it.each([
    ['keep emoji with the word before them', 'felices fiestas amor 🎂🎈 que cumplas', 24],
    ['keep a row of emoji together', '¡Feliz cumple niña! 🎂 🎈 Que cumplas', 26],
    ['keep emoji with the last word', 'so extraordinary 🎂🎂', 19],
  ])('%s', (_name, text, columns) => {
    const lines = shown(text, columns);
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter((line) => /^\p{Emoji_Presentation}/u.test(line))).toEqual([]);
    expect(lines).toHaveLength(shownWithoutPenalties(text, columns).length);
    expect(shownWithoutPenalties(text, columns).some((line) => /^\p{Emoji_Presentation}/u.test(line))).toBe(true);
  });

  it('separate emoji from their word rather than cut a row, and cut a row only to avoid another line', () => {
    expect(shown('hello there 😀😀😀😀', 12)).toEqual(['hello there', '😀😀😀😀']);
    expect(shown('😀😀😀😀😀😀😀😀', 10)).toEqual(['😀😀😀😀', '😀😀😀😀']);
  });
});

describe('line breaks in a URL', () => {
  it('line breaks inside a URL never follow the slashes of the scheme', () => {
    const url = 'https://example.com/albums';
    for (let columns = 20; columns < 40; columns += 1) {
      for (const line of shown(`see ${url} now`, columns)) expect(line).not.toMatch(/:\/\/$/u);
    }
    expect(lineBreaks(url).map(({ position }) => position)).toEqual(['https://example.com/'.length, url.length]);
  });

  it('line breaks inside a URL are avoided when the URL fits without another line', () => {
    expect(shown('New post: example.com/shop/summer', 24)).toEqual(['New post:', 'example.com/shop/summer']);
  });

  it('follow a delimiter when the URL is wider than a line', () => {
    expect(shown('https://example.com/albums?name=long_value&other=long_value', 30)).toEqual([
      'https://example.com/',
      'albums?name=long_value&',
      'other=long_value',
    ]);
    expect(shown('my_very_long_file_name_of_2024.png', 18)).toEqual(['my_very_long_file_', 'name_of_2024.png']);
  });
});

describe('line breaks after a hyphen', () => {
  it('line breaks after a hyphen are avoided when the words fit otherwise', () => {
    expect(shownWithoutPenalties('a very well-known camera', 14)).toEqual(['a very well-', 'known camera']);
    expect(shown('the old well-known one', 12)).toEqual(['the old', 'well-known', 'one']);
    expect(shown('this was an on-again year', 14)).toEqual(['this was an', 'on-again year']);
  });

  it('line breaks after a hyphen are used when they save a line', () => {
    expect(shown('a very well-known camera', 13)).toEqual(['a very well-', 'known camera']);
  });

  it('soft hyphens have the same penalty as hyphens', () => {
    expect(shown('one two ca\u00admera', 11)).toEqual(['one two', 'camera']);
  });
});

describe('line breaks in Chinese and Japanese', () => {
  it.each([
    ['particles', '今日は箱根温泉へ行く', ['今日は', '箱根', '温泉へ', '行く']],
    ['endings', '思わず立ち止まりました', ['思わず', '立ち', '止まりました']],
    ['polite prefixes', '皆さんとお茶を飲む', ['皆さんと', 'お茶を', '飲む']],
  ])('Japanese %s stay with their words', (_name, text, phrases) => {
    const good = lineBreaks(text).filter(({ penalty }) => penalty === PENALTIES.none);
    const ends = phrases.map((_, index) => phrases.slice(0, index + 1).join('').length);
    expect(good.map(({ position }) => position)).toEqual(ends);
  });
});

describe('line breaks beside quotations', () => {
  it.each([
    ['English', '“One two”, she said. “Three four”', ['“One two”, ', 'she ', 'said. ', '“Three four”']],
    ['British', '‘I don’t know’, she said. ‘Oh well’', ['‘I don’t know’, ', 'she ', 'said. ', '‘Oh well’']],
    ['straight', '"One two", she said. "Three four"', ['"One two", ', 'she ', 'said. ', '"Three four"']],
    ['Swedish', '”Ett två”, sa hon. ”Tre fyra”', ['”Ett två”, ', 'sa ', 'hon. ', '”Tre fyra”']],
    ['Danish', '»En to«, sagde hun. »Tre fire«', ['»En to«, ', 'sagde ', 'hun. ', '»Tre fire«']],
    ['Polish', '„Raz dwa” i „trzy cztery”', ['„Raz dwa” ', 'i ', '„trzy cztery”']],
    ['Swiss', '«Eins zwei» und ‹drei vier›', ['«Eins zwei» ', 'und ', '‹drei vier›']],
    ['Korean', '《하나 둘》과 〈셋 넷〉', ['《하나 둘》과 ', '〈셋 넷〉']],
  ])('fall between two %s quotations: %s', (_name, text, parts) => {
    const good = lineBreaks(text).filter(({ penalty }) => penalty === PENALTIES.none);
    const ends = parts.map((_, index) => parts.slice(0, index + 1).join('').length);
    expect(good.map(({ position }) => position)).toEqual(ends);
  });

  it('a single quotation, inches and abbreviations of years have no penalty', () => {
    for (const text of ['she said “one two three”', 'a 5" and a 6" pipe', 'the ’80s and ’90s were fun']) {
      expect(lineBreaks(text).filter(({ penalty }) => penalty > 0)).toEqual([]);
    }
  });
});
