import { describe, expect, it } from 'vitest';
import { AppError, type FieldFault } from '../../shared/errors.ts';
import type { Form } from './field-reader.ts';
import { pointerTo } from './quote.ts';
import { type CaptionForm, parseForm } from './form.ts';

type Fields = Readonly<Record<string, string>>;

/** Sends an asset unless width or height is among the fields. */
function parse(fields: Fields, rest: Partial<Form> = {}): CaptionForm {
  const list = Object.entries(fields).map(([name, value]) => ({ name, value }));
  return parseForm({ fields: list, hasAsset: !('width' in fields || 'height' in fields), faults: [], ...rest });
}

function errorOf(work: () => unknown): AppError {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('expected an AppError');
}

/** Returns every fault as "pointer code". */
function faultsOf(fields: Fields, rest: Partial<Form> = {}): string[] {
  const error = errorOf(() => parse(fields, rest));
  expect(error.code).toBe('invalid_fields');
  return error.faults.map(({ pointer, code }) => `${pointer} ${code}`);
}

/** Returns the faults of the overlays field, without the common prefix of their pointers. */
function overlayFaults(...overlays: readonly unknown[]): string[] {
  return faultsOf({ overlays: JSON.stringify(overlays) }).map((fault) => fault.replace('#/overlays/', ''));
}

describe('the text field', () => {
  it('the text field becomes one overlay without a position', () => {
    expect(parse({ text: 'hello' })).toMatchObject({ overlays: [{ text: 'hello', position: null }], strict: false });
  });

  it('the text is cleaned before use', () => {
    expect(parse({ text: ' a\r\nb\u202e ' }).overlays).toEqual([{ text: 'a\nb', position: null }]);
  });

  it.each(['', '   ', '\n', '\u200b', '\u202e'])(
    'the text is reported as blank when it is %j and no overlays are sent',
    (text) => {
      expect(faultsOf({ text })).toEqual(['#/text blank']);
    },
  );

  it('the text is required when overlays is absent or blank', () => {
    expect(faultsOf({})).toEqual(['#/text required']);
    expect(faultsOf({ overlays: ' ' })).toEqual(['#/text required']);
  });
});

describe('the length of a caption', () => {
  const FAMILY = '👩‍👦';

  it.each([
    ['letters', 'a', 180],
    ['letters with marks', 'ẹ̀', 180],
    ['family emoji of eleven bytes each', FAMILY, 180],
  ])('a caption has at most 180 characters: %s', (_name, character, max) => {
    const text = character.repeat(max);
    expect(parse({ text }).overlays[0]?.text).toBe(text);
    expect(faultsOf({ text: character.repeat(max + 1) })).toEqual(['#/text too_long']);
    expect(overlayFaults({ text: 'ok' }, { text: character.repeat(max + 1) })).toEqual(['1/text too_long']);
  });

  it('a caption has at most 2,000 bytes of UTF-8, even with few characters', () => {
    const zalgo = `${'a'.repeat(100)}${'\u0323'.repeat(950)}`;
    expect(Buffer.byteLength(zalgo)).toBe(2_000);
    expect(parse({ text: zalgo }).overlays).toHaveLength(1);
    expect(faultsOf({ text: `b${zalgo}` })).toEqual(['#/text too_long']);
  });

  it('the length of a caption is counted after cleaning', () => {
    expect(parse({ text: `${' '.repeat(3_000)}${'a'.repeat(180)}\u0000\u0000\n` }).overlays[0]?.text).toHaveLength(180);
  });

  it('the length of a caption counts a newline as one character', () => {
    expect(faultsOf({ text: `${'a'.repeat(90)}\n${'b'.repeat(90)}` })).toEqual(['#/text too_long']);
  });

  it('a caption that is too long is reported together with the limit', () => {
    expect(errorOf(() => parse({ text: 'a'.repeat(200) })).message).toMatch(/200 .* 180/u);
    expect(errorOf(() => parse({ text: '好'.repeat(700) })).message).toMatch(/2,100 .* 2,000/u);
  });
});

describe('text and overlays together', () => {
  const overlays = '[{"text":"from overlays"}]';

  it('text and overlays are reported as a conflict', () => {
    expect(faultsOf({ text: 'hello', overlays })).toEqual(['#/overlays conflict']);
  });

  it('text and overlays are both checked in spite of the conflict', () => {
    expect(faultsOf({ text: 'a'.repeat(181), overlays: '[{"text":""}]' })).toEqual([
      '#/text too_long',
      '#/overlays/0/text blank',
      '#/overlays conflict',
    ]);
  });

  it.each(['', '  ', '\u200b\n'])('a blank text (%j) beside overlays counts as absent', (text) => {
    expect(parse({ text, overlays }).overlays).toEqual([{ text: 'from overlays', position: null }]);
  });

  it.each(['', '  ', '\n'])('blank overlays (%j) beside a text count as absent', (blank) => {
    expect(parse({ text: 'hello', overlays: blank }).overlays).toEqual([{ text: 'hello', position: null }]);
  });
});

describe('the overlays field', () => {
  it('the overlays field keeps order, texts and positions, treats null as no position and ignores unknown keys', () => {
    const overlays = [
      { text: ' a ', position: 12.5 },
      { text: 'b', position: null },
      { text: 'c', color: 'red' },
    ];
    expect(parse({ overlays: JSON.stringify(overlays) }).overlays).toEqual([
      { text: 'a', position: 12.5 },
      { text: 'b', position: null },
      { text: 'c', position: null },
    ]);
  });

  it.each(['{', "[{'text':'a'}]", 'hello', '[{"text":"a"},]', 'NaN'])('overlays must be valid JSON: %s', (json) => {
    expect(faultsOf({ overlays: json })).toEqual(['#/overlays invalid_json']);
  });

  it.each(['"a"', '5', 'null', 'true'])('overlays must be an array or an object: %s', (json) => {
    expect(faultsOf({ overlays: json })).toEqual(['#/overlays wrong_type']);
  });

  it('overlays may be a single object', () => {
    expect(parse({ overlays: '{"text":"a","position":7}' }).overlays).toEqual([{ text: 'a', position: 7 }]);
    expect(faultsOf({ overlays: '{}' })).toEqual(['#/overlays/0/text required']);
  });

  it('overlays may be repeated with one object each', () => {
    const fields = ['{"text":"a","position":7}', '{"text":"b"}'].map((value) => ({ name: 'overlays', value }));
    expect(parse({}, { fields }).overlays).toEqual([
      { text: 'a', position: 7 },
      { text: 'b', position: null },
    ]);
  });

  it('the overlays field reports the faults of every repeated field, and refuses repeated arrays', () => {
    const values = ['{"text":""}', '[{"text":"b"}]', 'x', '{"text":"c","position":101}'];
    const fields = values.map((value) => ({ name: 'overlays', value }));
    expect(faultsOf({}, { fields })).toEqual([
      '#/overlays/2 invalid_json',
      '#/overlays/0/text blank',
      '#/overlays/1 wrong_type',
      '#/overlays/3/position out_of_range',
    ]);
    const many = Array.from({ length: 11 }, () => ({ name: 'overlays', value: '{"text":"a"}' }));
    expect(faultsOf({}, { fields: many })).toEqual(['#/overlays too_many']);
  });

  it('holds one to ten overlays', () => {
    const many = (count: number): string => JSON.stringify(Array.from({ length: count }, () => ({ text: 'a' })));
    expect(parse({ overlays: many(1) }).overlays).toHaveLength(1);
    expect(parse({ overlays: many(10) }).overlays).toHaveLength(10);
    expect(faultsOf({ overlays: many(0) })).toEqual(['#/overlays required']);
    expect(faultsOf({ overlays: many(11) })).toEqual(['#/overlays too_many']);
  });

  it.each([['a'], [1], [null], [[]], [true]])('holds objects, not %j', (item) => {
    expect(overlayFaults(item)).toEqual(['0 wrong_type']);
  });

  it('the overlays field needs a text in every overlay, which is a non-blank string', () => {
    expect(overlayFaults({}, { text: null }, { text: 5 }, { text: ' ' }, { text: ['a'] })).toEqual([
      '0/text required',
      '1/text required',
      '2/text wrong_type',
      '3/text blank',
      '4/text wrong_type',
    ]);
  });
});

describe('the position of an overlay', () => {
  it.each([0, 100, 50, 33.333, 0.0001])('a position can be %d', (position) => {
    expect(parse({ overlays: JSON.stringify([{ text: 'a', position }]) }).overlays[0]?.position).toBe(position);
  });

  it.each([-1, 100.01, -0.0001, 1e9])('a position must be between 0 and 100, not %d', (position) => {
    expect(overlayFaults({ text: 'a', position })).toEqual(['0/position out_of_range']);
  });

  it('a position is out of range when it is too large for a JavaScript number', () => {
    expect(faultsOf({ overlays: '[{"text":"a","position":1e999}]' })).toEqual(['#/overlays/0/position out_of_range']);
  });

  it.each(['50', '50%', '', true, [50], {}])('a position must be a number, not %j', (position) => {
    expect(overlayFaults({ text: 'a', position })).toEqual(['0/position wrong_type']);
  });
});

describe('width and height without an asset', () => {
  const text = 'a';

  it.each([
    ['16', '16', 16, 16],
    ['8192', '4000', 8192, 4000],
    ['7680', '4320', 7680, 4320],
    [' 1080 ', '1920', 1080, 1920],
  ])('set the canvas size: %s x %s', (width, height, w, h) => {
    expect(parse({ text, width, height }).canvas).toEqual({ width: w, height: h });
  });

  it('width and height are both required, and both reported in one response', () => {
    expect(faultsOf({ text }, { hasAsset: false })).toEqual(['#/width required', '#/height required']);
    expect(faultsOf({ text, width: '100' })).toEqual(['#/height required']);
    expect(faultsOf({ text, width: ' ', height: '100' })).toEqual(['#/width required']);
  });

  it.each(['1080.5', '1e3', '0x10', 'abc', '10 80', '1080px', '٣٠٠', 'NaN', 'Infinity'])(
    'width and height must be integers, not %s',
    (width) => {
      expect(faultsOf({ text, width, height: '100' })).toEqual(['#/width not_an_integer']);
    },
  );

  it.each(['15', '0', '-100', '8193', '99999999999999999999'])(
    'width and height must be between 16 and 8192, not %s',
    (height) => {
      expect(faultsOf({ text, width: '100', height })).toEqual(['#/height out_of_range']);
    },
  );

  it('a canvas has at most 33.2 megapixels', () => {
    expect(parse({ text, width: '8192', height: '4052' }).canvas).toEqual({ width: 8192, height: 4052 });
    expect(faultsOf({ text, width: '8192', height: '4053' })).toEqual(['#/width out_of_range']);
  });
});

describe('width and height with an asset', () => {
  it.each(['100', 'abc', '-5', ''])('width and height are ignored with an asset, even when width is %j', (width) => {
    expect(parse({ text: 'a', width, height: '1' }, { hasAsset: true }).canvas).toBeUndefined();
  });
});

describe('the fields of a form', () => {
  it('fields that are sent twice are rejected', () => {
    const fields = ['a', 'a'].map((value) => ({ name: 'text', value }));
    expect(faultsOf({}, { fields })).toEqual(['#/text duplicate']);
  });

  it('unknown fields are rejected by name', () => {
    expect(faultsOf({ text: 'a', Text: 'b', 'a/b~c d': 'e' })).toEqual([
      '#/Text unknown_field',
      '#/a~1b~0c%20d unknown_field',
    ]);
  });

  it('fields that cannot be read are reported as unreadable only, not as missing too', () => {
    const fault: FieldFault = { pointer: '#/text', code: 'invalid_encoding', detail: 'Not UTF-8.' };
    expect(faultsOf({}, { faults: [fault] })).toEqual(['#/text invalid_encoding']);
    const width: FieldFault = { ...fault, pointer: '#/width' };
    expect(faultsOf({ text: 'a', height: '5' }, { faults: [width] })).toEqual([
      '#/width invalid_encoding',
      '#/height out_of_range',
    ]);
  });

  it('all faults of a form are reported in one response', () => {
    const overlays = JSON.stringify([{ text: '' }, { text: 'b', position: '50' }, 7, { position: 101 }]);
    expect(faultsOf({ overlays, width: 'x', color: 'red' })).toEqual([
      '#/color unknown_field',
      '#/width not_an_integer',
      '#/height required',
      '#/overlays/0/text blank',
      '#/overlays/1/position wrong_type',
      '#/overlays/2 wrong_type',
      '#/overlays/3/text required',
      '#/overlays/3/position out_of_range',
    ]);
  });
});

describe('fields from JSON', () => {
  const json = (values: Readonly<Record<string, unknown>>): Partial<Form> => ({
    fields: Object.entries(values).map(([name, value]) => ({ name, value })),
    isJson: true,
    hasAsset: false,
  });

  it('fields in JSON have their own types', () => {
    const overlays = [{ text: 'a', position: 5 }, { text: 'b' }];
    expect(parse({}, json({ width: 320, height: 200, overlays }))).toMatchObject({
      overlays: [
        { text: 'a', position: 5 },
        { text: 'b', position: null },
      ],
      canvas: { width: 320, height: 200 },
    });
    expect(parse({}, json({ width: 320, height: 200, overlays: { text: 'one' } })).overlays).toHaveLength(1);
  });

  it('null counts as omitted in JSON', () => {
    expect(parse({}, json({ width: 320, height: 200, text: 'a', overlays: null })).overlays).toHaveLength(1);
    expect(faultsOf({}, json({ width: null, height: 200, text: 'a' }))).toEqual(['#/width required']);
  });

  it('fields of the wrong type in JSON are rejected, each with one fault', () => {
    expect(faultsOf({}, json({ text: 7, width: '320', height: 1.5 }))).toEqual([
      '#/width wrong_type',
      '#/height not_an_integer',
      '#/text wrong_type',
    ]);
    expect(faultsOf({}, json({ width: 32, height: 32, overlays: '[{"text":"a"}]' }))).toEqual([
      '#/overlays wrong_type',
    ]);
    expect(faultsOf({}, json({ width: true, height: [32], text: 'a' }))).toEqual([
      '#/width wrong_type',
      '#/height wrong_type',
    ]);
  });
});

describe('the message of the error', () => {
  it('the message is the detail of a single fault, and the number of faults otherwise', () => {
    expect(errorOf(() => parse({ text: ' ' })).message).toBe("Caption can't be empty.");
    expect(errorOf(() => parse({ text: ' ', width: 'x' })).message).toBe('The request has 3 errors.');
  });
});

describe('the detail of a fault', () => {
  const detailOf = (fields: Fields): string => errorOf(() => parse(fields)).message;

  it.each([
    [{ text: 'a', width: 'abc', height: '100' }, 'Width must be a whole number of pixels; got "abc".'],
    [{ text: 'a', width: '100', height: '15' }, 'Height must be between 16 and 8192 pixels; got 15.'],
    [
      { text: 'a', width: '8192', height: '4053' },
      'Width times height must be at most 33,200,000 pixels; got 33,202,176 (8192x4053).',
    ],
    [{ overlays: '[{"text":"a","position":101}]' }, 'Position must be between 0 and 100; got 101.'],
    [{ overlays: '[{"text":"a","position":"50"}]' }, 'Position must be a number between 0 and 100; got a string.'],
    [{ overlays: '[]' }, 'Overlays must contain 1 to 10 captions; got 0.'],
    [{ overlays: '7' }, 'Overlays must be an array; got a number.'],
  ])('the detail of a fault states the rule and the offending value: %j', (fields, detail) => {
    expect(detailOf(fields)).toBe(detail);
  });

  it('the detail of a fault repeats no more than 32 characters of a value', () => {
    expect(detailOf({ text: 'a', width: 'x'.repeat(60_000), height: '100' })).toBe(
      `Width must be a whole number of pixels; got "${'x'.repeat(32)}...".`,
    );
    expect(detailOf({ text: 'a', width: '9'.repeat(60_000), height: '100' })).toContain(`got ${'9'.repeat(32)}....`);
  });
});

describe('pointerTo', () => {
  it.each([
    ['text', '#/text'],
    ['a/b~c', '#/a~1b~0c'],
    ['é', '#/%C3%A9'],
    ['\ud800', '#/%EF%BF%BD'],
    ['x'.repeat(1_000), `#/${'x'.repeat(64)}`],
    [`${'x'.repeat(63)}😀`, `#/${'x'.repeat(63)}%EF%BF%BD`],
  ])('points to the field %j', (name, pointer) => {
    expect(pointerTo(name)).toBe(pointer);
  });
});

describe('the lang field', () => {
  it('the lang field applies to every overlay that has no language of its own', () => {
    const overlays = JSON.stringify([{ text: 'a' }, { text: 'b', lang: 'ur' }, { text: 'c', lang: null }]);
    expect(parse({ overlays, lang: 'zh-Hant' }).overlays).toEqual([
      { text: 'a', position: null, lang: 'zh-Hant' },
      { text: 'b', position: null, lang: 'ur' },
      { text: 'c', position: null, lang: 'zh-Hant' },
    ]);
    expect(parse({ text: 'a', lang: ' ja ' }).overlays).toEqual([{ text: 'a', position: null, lang: 'ja' }]);
    expect(parse({ text: 'a', lang: '' }).overlays).toEqual([{ text: 'a', position: null }]);
  });

  it('an invalid lang is reported together with every other fault', () => {
    const overlays = JSON.stringify([
      { text: '', lang: 'zh_TW' },
      { text: 'b', lang: 5 },
    ]);
    expect(faultsOf({ overlays, lang: 'Japanese language' })).toEqual([
      '#/overlays/0/text blank',
      '#/overlays/0/lang invalid_language',
      '#/overlays/1/lang wrong_type',
      '#/lang invalid_language',
    ]);
  });
});
