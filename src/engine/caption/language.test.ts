import { describe, expect, it } from 'vitest';
import { AppError, type FieldFault } from '../../shared/errors.ts';
import { parseForm } from './form.ts';

function parse(value: unknown): { lang: string | undefined; faults: readonly FieldFault[] } {
  const fields = Object.entries({ text: 'a', lang: value ?? null }).map(([name, one]) => ({ name, value: one }));
  try {
    const { overlays } = parseForm({ fields, isJson: true, hasAsset: true, faults: [] });
    return { lang: overlays[0]?.lang, faults: [] };
  } catch (error) {
    if (error instanceof AppError) return { lang: undefined, faults: error.faults };
    throw error;
  }
}

describe('the language of a request', () => {
  it.each([
    'ja',
    'ur-PK',
    'zh-Hant-TW',
    'zh-cmn-Hans-CN',
    'es-419',
    'sl-rozaj-biske-1994',
    'de-CH-1901',
    'en-u-ca-gregory',
    'en-a-bbb-x-a-ccc',
    'x-whatever',
    'SR-latn',
  ])('accepts the well-formed tag %s', (tag) => {
    expect(parse(tag)).toEqual({ lang: tag, faults: [] });
  });

  it.each([
    'j',
    'zh_TW',
    'Japanese language',
    'ja-',
    '-ja',
    'de-1',
    'en-x',
    'a-DE',
    'zh-Hant-Hans',
    '日本語',
    'ja;q=1',
  ])('rejects %s', (tag) => {
    const { lang, faults } = parse(tag);
    expect(lang).toBeUndefined();
    expect(faults).toEqual([
      {
        pointer: '#/lang',
        code: 'invalid_language',
        detail: `Lang must be a BCP 47 language tag such as "ja" or "zh-Hant"; got "${tag}".`,
      },
    ]);
  });

  it.each([undefined, null, '', '  '])('treats %j as absent', (value) => {
    expect(parse(value)).toEqual({ lang: undefined, faults: [] });
  });

  it.each([5, true, ['ja'], { tag: 'ja' }])('reports the wrong type of %j', (value) => {
    expect(parse(value).faults).toMatchObject([{ code: 'wrong_type', pointer: '#/lang' }]);
  });

  it('repeats only the beginning of a long value', () => {
    const [fault] = parse('a'.repeat(10_000)).faults;
    expect(fault?.code).toBe('invalid_language');
    expect(fault?.detail.length).toBeLessThan(150);
  });
});
