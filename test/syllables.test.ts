// Where words of many languages can be cut, with the real patterns.

import { describe, expect, it } from 'vitest';
import { type Syllables, syllablesOf } from '../src/engine/layout/syllables.ts';
import { patternCuts } from '../src/engine/raster/syllable-patterns.ts';

function syllablesIn(piece: string, token: string, lang?: string): Syllables | undefined {
  return syllablesOf(piece, token, lang, patternCuts);
}

function shown(word: string, lang?: string): string | undefined {
  const found = syllablesIn(word, word, lang);
  return found?.parts.join(found.hyphen);
}

describe('the syllables of a word', () => {
  it.each([
    ['Donaudampfschiff', 'de', 'Donau-dampf-schiff'],
    ['Donaudampfschiff', 'de-CH', 'Donau-dampf-schiff'],
    ['internationalization', 'en-GB', 'inter-na-tion-al-iza-tion'],
    ['anticonstitutionnellement', 'fr', 'anti-cons-ti-tu-tion-nel-le-ment'],
    ['otorrinolaringólogo', 'es', 'oto-rri-no-la-rin-gó-logo'],
    ['LEŞTİRİCİLEŞTİRİVERE', 'tr', 'LEŞ-Tİ-Rİ-Cİ-LEŞ-Tİ-Rİ-VERE'],
    ['достопримечательность', 'ru', 'досто-при-ме-ча-тель-ность'],
  ])('follow the patterns of the language: %s in %s', (word, lang, syllables) => {
    expect(shown(word, lang)).toBe(syllables);
  });

  it.each([
    ['ηλεκτρονικός', 'ηλε-κτρο-νι-κός'],
    ['საქართველო', 'საქარ-თველო'],
    ['հասկանալի', 'հասկա֊նալի'],
  ])('follow the only language of a script where none is named: %s', (word, syllables) => {
    expect(shown(word)).toBe(syllables);
  });

  it.each([
    ['banalitas', 'id', 'bana-li-tas'],
    ['ninakupenda', undefined, 'nina-ku-penda'],
    ['nepodařilo', 'cs', 'nepo-da-řilo'],
    ['непомітність', undefined, 'непо-мітність'],
    ['строитель', undefined, 'строи-тель'],
    ['войско', undefined, 'войско'],
    ['xxxxxxxxxx', undefined, 'xxxxxxxxxx'],
  ])('start before a single consonant between two vowels without patterns: %s in %s', (word, lang, syllables) => {
    expect(shown(word, lang)).toBe(syllables);
  });

  it('keep punctuation, and leave three letters on each side of a hyphen', () => {
    expect(shown('“Ananas”,', 'de')).toBe('“Ana-nas”,');
    expect(shown('Oma', 'de')).toBe('Oma');
  });

  it.each([
    '#donaudampfschiff',
    '@donaudampfschiff',
    'https://example.com/donaudampfschiff',
    'donau_dampfschiff',
    'name@example.com',
    'donaudampfschiff.png',
    'abc123donau',
    'निरन्तरान्धकार',
    'مستشفيات',
    'アプリケーション',
    'ประชาธิปไตย',
  ])('are unknown where a hyphen would be wrong: %s', (token) => {
    expect(shown(token, 'de')).toBeUndefined();
  });

  it('are found in a part of a compound, but not in one of an address', () => {
    expect(syllablesIn('dampfschiff', 'Donau-dampfschiff', 'de')?.parts).toEqual(['dampf', 'schiff']);
    expect(syllablesIn('dampfschiff', 'example.com/dampfschiff', 'de')).toBeUndefined();
  });
});
