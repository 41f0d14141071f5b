import { expect, it } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import { parseForm } from './form.ts';

/** Returns every fault of a request without a file as "pointer code". */
function faultsOf(fields: Readonly<Record<string, string>>, isJson: boolean): string[] {
  try {
    const list = Object.entries(fields).map(([name, value]) => ({ name, value }));
    parseForm({ fields: list, isJson, hasAsset: false, faults: [] });
  } catch (error) {
    if (error instanceof AppError) return error.faults.map(({ pointer, code }) => `${pointer} ${code}`);
    throw error;
  }
  return [];
}

it.each([
  ['JSON', true],
  ['a form', false],
])(
  'a file that is sent as text in %s, or under another name, is one fault without those of a request without a file',
  (_name, isJson) => {
    const base64 = 'data:image/png;base64,iVBORw0KGgo=';
    expect(faultsOf({ asset: base64, text: 'a' }, isJson)).toEqual(['#/asset wrong_type']);
    const cue = '1\n00:00:00,000 --> 00:00:01,000\nHi\n';
    expect(faultsOf({ asset: base64, captions: cue }, isJson)).toEqual(['#/asset wrong_type']);
    expect(faultsOf({ image: base64, text: 'a' }, isJson)).toEqual(['#/image unknown_field']);
    expect(faultsOf({ image: base64, text: '' }, isJson)).toEqual(['#/image unknown_field', '#/text blank']);
  },
);

it('a request that has a part of the size is told what is missing of it, beside an unknown field', () => {
  expect(faultsOf({ image: 'x', text: 'a', width: '64' }, false)).toEqual([
    '#/image unknown_field',
    '#/height required',
  ]);
  expect(faultsOf({ text: 'a' }, false)).toEqual(['#/width required', '#/height required']);
});
