// Checks what readers expect of words, dashes, quotations and rows of symbols, with the real fonts.

import { describe, expect, it } from 'vitest';
import { isEmoji } from '../src/engine/layout/emoji.ts';
import { type Bar, layoutOverlays } from '../src/engine/layout/layout.ts';
import { must } from '../src/shared/must.ts';
import { graphemes } from '../src/engine/caption/graphemes.ts';
import { TextEngine } from '../src/engine/raster/text-engine.ts';

const engine = new TextEngine();
const CANVAS = { width: 1080, height: 1920 };
const FONT_SIZE = 51.84;

function barOf(text: string, { lang, size = 1 }: { lang?: string; size?: number } = {}): Bar {
  const overlay = {
    text: engine.drawable(text).text,
    position: 50,
    style: { size },
    ...(lang !== undefined && { lang }),
  };
  return must(layoutOverlays([overlay], CANVAS, (...caption) => engine.measurerFor(...caption)).bars[0], 'the bar');
}

function linesOf(text: string, style?: Parameters<typeof barOf>[1]): string[] {
  return barOf(text, style).lines.map(({ runs }) => runs.map((run) => run.text).join(''));
}

describe('a long word', () => {
  it('stays whole if the caption can be up to 15 % smaller', () => {
    const text = 'Die Donaudampfschifffahrtsgesellschaftskapitäne';
    const { fontSize, lines } = barOf(text);
    expect(fontSize).toBeLessThan(FONT_SIZE);
    expect(fontSize).toBeGreaterThanOrEqual(0.85 * FONT_SIZE);
    expect(
      lines.some(({ runs }) => runs.some((run) => run.text.includes('Donaudampfschifffahrtsgesellschaftskapitäne'))),
    ).toBe(true);
  });

  it('is cut at the usual size if that is not enough, with a hyphen', () => {
    expect(barOf('a'.repeat(60)).fontSize).toBeCloseTo(FONT_SIZE, 6);
    expect(linesOf('a'.repeat(60))).toEqual([`${'a'.repeat(30)}-`, 'a'.repeat(30)]);
  });

  it.each([
    ['de', 1, 'Die Donaudampfschifffahrts- elektrizitätenhauptbetriebswerk- bauunterbeamtengesellschaft'],
    ['fi', 1, 'lentokonesuihkuturbiinimoottoria- pumekaanikkoaliupseerioppilas'],
    ['nl', 1.5, 'kindercarnavalsop- tochtvoorbereidings- werkzaamhedenplan'],
    ['hu', 1.6, 'megszentségteleníthe- tetlenségeskedéseitekért'],
    ['en', 3, '“Internation- alization”'],
    ['uk', 2, 'рентгеноелектро- кардіографічного'],
    [undefined, 2, 'ηλεκτροεγκεφαλο- γραφηματολογικός'],
  ])('is cut between syllables with a hyphen: in %s at size %s', (lang, size, lines) => {
    const shown = linesOf(lines.replaceAll('- ', ''), { size, ...(lang !== undefined && { lang }) });
    expect(shown.join(' ')).toBe(lines);
  });

  it('leaves room for the hyphen at the end of a line', () => {
    for (const size of [1.5, 1.8, 2.1, 2.4, 2.7, 3]) {
      const { lines } = barOf('Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz', { lang: 'de', size });
      expect(lines.length).toBeGreaterThan(1);
      for (const { width } of lines) expect(width).toBeLessThanOrEqual(0.92 * CANVAS.width);
    }
  });

  it.each(['#donaudampfschifffahrtsgesellschaftskapitaen', 'example.com/donaudampfschifffahrtsgesellschaftskapitaen'])(
    'gets no hyphen where it could be part of the text: %s',
    (text) => {
      const lines = linesOf(text, { lang: 'de', size: 2 });
      expect(lines.length).toBeGreaterThan(1);
      expect(lines.join('')).toBe(text);
    },
  );
});

describe('a line', () => {
  it.each([
    'We left at four in the morning — and still saw the whole bay turn gold',
    'Wir fuhren um vier Uhr morgens los – und sahen die ganze Bucht golden',
    'We left at four in the morning - and still saw the whole bay turn gold',
    'we left at four in the early morning—and still saw the whole bay turn gold',
    'Nunca había visto algo así —dijo ella en voz baja— y se marchó para siempre',
    'Мы уехали в четыре утра — и увидели всю бухту в золоте',
    'Φύγαμε στις τέσσερις ⸺ και είδαμε τον κόλπο',
    'יצאנו בארבע בבוקר ־ וראינו את המפרץ',
  ])('never starts with a dash: %s', (text) => {
    for (let words = 4; words <= 12; words += 1) {
      for (const line of linesOf(`${'word '.repeat(words)}${text}`)) expect(line).not.toMatch(/^\p{Pd}/u);
    }
  });

  it('can start with a negative number', () => {
    expect(linesOf('It was really really cold today\n-5 degrees')[1]).toBe('-5 degrees');
  });

  it('keeps a dash that opens an aside with its word', () => {
    for (let words = 2; words <= 12; words += 1) {
      const lines = linesOf(`${'palabra '.repeat(words)}—dijo ella en voz baja— y se fue`);
      expect(lines.filter((line) => line.endsWith(' —'))).toEqual([]);
    }
  });

  it.each([
    ['sv', '”Jag har aldrig sett det”, sa hon. ”Kom med mig i kväll då”', /sa hon\./u],
    ['da', '»Det har jeg aldrig set«, sagde hun. »Så kom med mig i aften«', /sagde hun\./u],
    ['pl', '„Nigdy tego nie widziałam”, powiedziała. „To chodź ze mną dziś”', /powiedziała\./u],
    ['en-GB', '‘I don’t believe you’ve seen it’, she said. ‘Then come with me tonight’', /she said\./u],
    ['en', '"I have never seen it", she said. "Then come with me tonight"', /she said\./u],
    ['ja', '『こんな景色は見たことがない』と彼女が言った。『今夜一緒に行こう』', /と彼女が言った。/u],
  ])('ends between two quotations in %s: %s', (_lang, text, between) => {
    const [first = '', second = ''] = linesOf(text);
    const { index, 0: match } = must(between.exec(text), 'the text between the quotations');
    expect(first.length).toBeGreaterThanOrEqual(index - 1);
    expect(text.length - second.length).toBeLessThanOrEqual(index + match.length + 1);
  });

  it('ends between two quotations instead of inside one', () => {
    const text = '“I have never seen it”, she said. “Then come with me tonight”';
    expect(linesOf(text)).toEqual(
      ['“I have never seen it”, she said. ', '“Then come with me tonight”'].map((line) => line.trim()),
    );
  });

  it.each([
    [
      '私の好きな番組はＷＯＲＬＤ　ＢＵＳＩＮＥＳＳ　ＳＡＴＥＬＬＩＴＥです',
      ['ＷＯＲＬＤ', 'ＢＵＳＩＮＥＳＳ', 'ＳＡＴＥＬＬＩＴＥ'],
    ],
    [
      '今年最喜欢的歌是Ｄｏｎ＇ｔ　Ｓｔｏｐ　Ｂｅｌｉｅｖｉｎｇ一九八一年发行',
      ['Ｄｏｎ＇ｔ', 'Ｓｔｏｐ', 'Ｂｅｌｉｅｖｉｎｇ'],
    ],
    ['우리가 가장 좋아하는 여름 축제의 이름은 ＦＥＳＴＩＶＡＬ２０２４입니다', ['ＦＥＳＴＩＶＡＬ２０２４']],
  ])('keeps full-width Latin words whole: %s', (text, words) => {
    for (const size of [1, 1.1, 1.2, 1.3]) {
      const lines = linesOf(text, { size });
      expect(lines.length).toBeGreaterThan(1);
      for (const word of words) expect([word, lines.some((line) => line.includes(word))]).toEqual([word, true]);
    }
  });
});

describe('a row of symbols', () => {
  it.each(['♠♥♦♣', '♥ ♦ ♣ ♠', '🅰🅱🅲🅳', '🅷🅾🆃'])('is all text if one symbol of it is: %s', (row) => {
    const clusters = graphemes(engine.drawable(row).text).filter((cluster) => cluster.trim() !== '');
    expect(clusters.filter(isEmoji)).toEqual([]);
  });

  it.each(['♥♥', '🅰🅱', '🆎🅾'])('is all emoji if each symbol of it is: %s', (row) => {
    expect(graphemes(engine.drawable(row).text).every(isEmoji)).toBe(true);
  });

  it('keeps selectors as they were written', () => {
    expect(engine.drawable('♠️♥️').text).toBe('♠️♥️');
    expect(engine.drawable('I ♥ you').text).toBe('I ♥ you');
  });
});

describe('digits of Urdu', () => {
  /** The pixels of a caption. All shapes of a digit have the same width. */
  const drawn = (text: string, lang?: string): Buffer => {
    const overlay = { text, position: 50, ...(lang !== undefined && { lang }) };
    const layout = layoutOverlays([overlay], { width: 600, height: 200 }, (...caption) =>
      engine.measurerFor(...caption),
    );
    return Buffer.from(must(engine.draw(layout)[0], 'the band').pixels);
  };
  const [urdu, persian] = ['یہ ٹرین ۴۵۶۷ ہے', 'قطار ۴۵۶۷ است'];

  it('have the shapes of Urdu beside its letters, without a language', () => {
    expect(drawn(urdu).equals(drawn(urdu, 'ur'))).toBe(true);
    expect(drawn(urdu).equals(drawn(urdu, 'fa'))).toBe(false);
    expect(drawn(persian).equals(drawn(persian, 'fa'))).toBe(true);
    expect(drawn(persian).equals(drawn(persian, 'ur'))).toBe(false);
  });

  it.each(['en-US', 'pa-Arab', 'skr'])('have the shapes of Urdu in a request for %s', (lang) => {
    expect(drawn(urdu, lang).equals(drawn(urdu, 'ur'))).toBe(true);
  });

  it('have the shapes of Persian in a request for it, whatever the letters', () => {
    expect(drawn(urdu, 'fa-AF').equals(drawn(urdu, 'ar'))).toBe(true);
  });
});
