import { describe, expect, it } from 'vitest';
import { AppError, type FieldFault } from '../errors.ts';
import { type Form, type CaptionForm, parseForm, pointerTo } from './form.ts';

type Fields = Readonly<Record<string, string>>;

/** With an asset, unless width or height is among the fields. */
function parse(fields: Fields, rest: Partial<Form> = {}): CaptionForm {
  const list = Object.entries(fields).map(([name, value]) => ({ name, value }));
  return parseForm({ fields: list, hasAsset: !('width' in fields || 'height' in fields), faults: [], ...rest });
}

function refusal(work: () => unknown): AppError {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('expected a refusal');
}

/** Every fault as "pointer code". */
function faultsOf(fields: Fields, rest: Partial<Form> = {}): string[] {
  const error = refusal(() => parse(fields, rest));
  expect(error.code).toBe('invalid_fields');
  return error.faults.map(({ pointer, code }) => `${pointer} ${code}`);
}

/** The faults of one overlay among the fields, without the pointer's common part. */
function overlayFaults(...overlays: readonly unknown[]): string[] {
  return faultsOf({ overlays: JSON.stringify(overlays) }).map((fault) => fault.replace('#/overlays/', ''));
}

describe('text', () => {
  it('becomes one overlay without a position', () => {
    expect(parse({ text: 'hello' })).toEqual({ overlays: [{ text: 'hello', position: null }], canvas: undefined });
  });

  it('is cleaned', () => {
    expect(parse({ text: ' a\r\nb\u202e ' }).overlays).toEqual([{ text: 'a\nb', position: null }]);
  });

  it.each(['', '   ', '\n', '\u200b', '\u202e'])('that is blank (%j) is refused when there is nothing else', (text) => {
    expect(faultsOf({ text })).toEqual(['#/text blank']);
  });

  it('is required when overlays is absent or blank', () => {
    expect(faultsOf({})).toEqual(['#/text required']);
    expect(faultsOf({ overlays: ' ' })).toEqual(['#/text required']);
  });
});

describe('text length', () => {
  const FAMILY = '👩‍👦';

  it.each([
    ['letters', 'a', 180],
    ['letters with marks', 'ẹ̀', 180],
    ['families, eleven bytes each', FAMILY, 180],
  ])('180 %s pass, 181 do not', (_name, character, most) => {
    const text = character.repeat(most);
    expect(parse({ text }).overlays[0]?.text).toBe(text);
    expect(faultsOf({ text: character.repeat(most + 1) })).toEqual(['#/text too_long']);
    expect(overlayFaults({ text: 'ok' }, { text: character.repeat(most + 1) })).toEqual(['1/text too_long']);
  });

  it('is at most 2000 bytes in UTF-8, however few the characters', () => {
    const zalgo = `${'a'.repeat(100)}${'\u0323'.repeat(950)}`;
    expect(Buffer.byteLength(zalgo)).toBe(2_000);
    expect(parse({ text: zalgo }).overlays).toHaveLength(1);
    expect(faultsOf({ text: `b${zalgo}` })).toEqual(['#/text too_long']);
  });

  it('counts what is left after cleaning', () => {
    expect(parse({ text: `${' '.repeat(3_000)}${'a'.repeat(180)}\u0000\u0000\n` }).overlays[0]?.text).toHaveLength(180);
  });

  it('counts a newline as a character', () => {
    expect(faultsOf({ text: `${'a'.repeat(90)}\n${'b'.repeat(90)}` })).toEqual(['#/text too_long']);
  });

  it('names the limit and the actual length', () => {
    expect(refusal(() => parse({ text: 'a'.repeat(200) })).message).toMatch(/200.*180/u);
    expect(refusal(() => parse({ text: '好'.repeat(700) })).message).toMatch(/2100.*2000/u);
  });
});

describe('text and overlays', () => {
  const overlays = '[{"text":"from overlays"}]';

  it('together are a conflict', () => {
    expect(faultsOf({ text: 'hello', overlays })).toEqual(['#/overlays conflict']);
  });

  it('together still have each fault of both reported', () => {
    expect(faultsOf({ text: 'a'.repeat(181), overlays: '[{"text":""}]' })).toEqual([
      '#/overlays conflict',
      '#/overlays/0/text blank',
      '#/text too_long',
    ]);
  });

  it.each(['', '  ', '\u200b\n'])('a blank text (%j) counts as absent', (text) => {
    expect(parse({ text, overlays }).overlays).toEqual([{ text: 'from overlays', position: null }]);
  });

  it.each(['', '  ', '\n'])('blank overlays (%j) count as absent', (blank) => {
    expect(parse({ text: 'hello', overlays: blank }).overlays).toEqual([{ text: 'hello', position: null }]);
  });
});

describe('overlays', () => {
  it('keep their order, texts and positions; null and no position are alike; other keys are ignored', () => {
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

  it.each(['{', "[{'text':'a'}]", 'hello', '[{"text":"a"},]', 'NaN'])('that are not JSON are refused: %s', (json) => {
    expect(faultsOf({ overlays: json })).toEqual(['#/overlays invalid_json']);
  });

  it.each(['{"text":"a"}', '"a"', '5', 'null', 'true'])('that are not an array are refused: %s', (json) => {
    expect(faultsOf({ overlays: json })).toEqual(['#/overlays wrong_type']);
  });

  it('are one to ten', () => {
    const many = (count: number): string => JSON.stringify(Array.from({ length: count }, () => ({ text: 'a' })));
    expect(parse({ overlays: many(1) }).overlays).toHaveLength(1);
    expect(parse({ overlays: many(10) }).overlays).toHaveLength(10);
    expect(faultsOf({ overlays: many(0) })).toEqual(['#/overlays required']);
    expect(faultsOf({ overlays: many(11) })).toEqual(['#/overlays too_many']);
  });

  it.each([['a'], [1], [null], [[]], [true]])('hold objects, not %j', (item) => {
    expect(overlayFaults(item)).toEqual(['0 wrong_type']);
  });

  it('need a text that is a string and not blank', () => {
    expect(overlayFaults({}, { text: null }, { text: 5 }, { text: ' ' }, { text: ['a'] })).toEqual([
      '0/text required',
      '1/text required',
      '2/text wrong_type',
      '3/text blank',
      '4/text wrong_type',
    ]);
  });
});

describe('position', () => {
  it.each([0, 100, 50, 33.333, 0.0001])('%d is kept', (position) => {
    expect(parse({ overlays: JSON.stringify([{ text: 'a', position }]) }).overlays[0]?.position).toBe(position);
  });

  it.each([-1, 100.01, -0.0001, 1e9])('%d is out of range', (position) => {
    expect(overlayFaults({ text: 'a', position })).toEqual(['0/position out_of_range']);
  });

  it('too large for a number is out of range', () => {
    expect(faultsOf({ overlays: '[{"text":"a","position":1e999}]' })).toEqual(['#/overlays/0/position out_of_range']);
  });

  it.each(['50', '50%', '', true, [50], {}])('%j is not a number', (position) => {
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
  ])('%s x %s is a canvas', (width, height, w, h) => {
    expect(parse({ text, width, height }).canvas).toEqual({ width: w, height: h });
  });

  it('are both required, and both said at once', () => {
    expect(faultsOf({ text }, { hasAsset: false })).toEqual(['#/width required', '#/height required']);
    expect(faultsOf({ text, width: '100' })).toEqual(['#/height required']);
    expect(faultsOf({ text, width: ' ', height: '100' })).toEqual(['#/width required']);
  });

  it.each(['1080.5', '1e3', '0x10', 'abc', '10 80', '1080px', '٣٠٠', 'NaN', 'Infinity'])(
    '%s is no integer',
    (width) => {
      expect(faultsOf({ text, width, height: '100' })).toEqual(['#/width not_an_integer']);
    },
  );

  it.each(['15', '0', '-100', '8193', '99999999999999999999'])('%s is out of range', (height) => {
    expect(faultsOf({ text, width: '100', height })).toEqual(['#/height out_of_range']);
  });

  it('are at most 33.2 megapixels together', () => {
    expect(parse({ text, width: '8192', height: '4052' }).canvas).toEqual({ width: 8192, height: 4052 });
    expect(faultsOf({ text, width: '8192', height: '4053' })).toEqual(['#/width out_of_range']);
  });
});

describe('width and height with an asset', () => {
  it.each(['100', 'abc', '-5', ''])('are ignored, even %j', (width) => {
    expect(parse({ text: 'a', width, height: '1' }, { hasAsset: true }).canvas).toBeUndefined();
  });
});

describe('fields', () => {
  it('sent twice are refused', () => {
    const fields = ['a', 'a'].map((value) => ({ name: 'text', value }));
    expect(faultsOf({}, { fields })).toEqual(['#/text duplicate']);
  });

  it('nobody knows are refused by name', () => {
    expect(faultsOf({ text: 'a', Text: 'b', 'a/b~c d': 'e' })).toEqual([
      '#/Text unknown_field',
      '#/a~1b~0c%20d unknown_field',
    ]);
  });

  it('that could not be read are reported once, not as missing too', () => {
    const fault: FieldFault = { pointer: '#/text', code: 'invalid_encoding', detail: 'Not UTF-8.' };
    expect(faultsOf({}, { faults: [fault] })).toEqual(['#/text invalid_encoding']);
    const width: FieldFault = { ...fault, pointer: '#/width' };
    expect(faultsOf({ text: 'a', height: '5' }, { faults: [width] })).toEqual([
      '#/width invalid_encoding',
      '#/height out_of_range',
    ]);
  });

  it('have every fault of a request in one answer', () => {
    const overlays = JSON.stringify([{ text: '' }, { text: 'b', position: '50' }, 7, { position: 101 }]);
    expect(faultsOf({ overlays, width: 'x', color: 'red' })).toEqual([
      '#/color unknown_field',
      '#/overlays/0/text blank',
      '#/overlays/1/position wrong_type',
      '#/overlays/2 wrong_type',
      '#/overlays/3/text required',
      '#/overlays/3/position out_of_range',
      '#/width not_an_integer',
      '#/height required',
    ]);
  });
});

describe('the message', () => {
  it('is the fault itself when there is one, and counts them otherwise', () => {
    expect(refusal(() => parse({ text: ' ' })).message).toBe('The caption is blank.');
    expect(refusal(() => parse({ text: ' ', width: 'x' })).message).toBe('3 faults in the request.');
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
  ])('%j', (name, pointer) => {
    expect(pointerTo(name)).toBe(pointer);
  });
});
