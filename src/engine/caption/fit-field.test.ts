import { describe, expect, it } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import type { Form } from './field-reader.ts';
import { parseForm } from './form.ts';
import type { Fit } from './fit.ts';

const ON_IMAGE = { hasAsset: true, assetKind: 'image' } as const;
const ON_VIDEO = { hasAsset: true, assetKind: 'video' } as const;
const SIZE = { width: '1080', height: '1920' };

function parse(values: Readonly<Record<string, unknown>>, form: Partial<Form> = ON_IMAGE): Fit | undefined {
  const fields = Object.entries({ text: 'Hello', ...values }).map(([name, value]) => ({ name, value }));
  return parseForm({ fields, hasAsset: false, faults: [], ...form }).output.fit;
}

function faultsOf(run: () => unknown): string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return error.faults.map(({ pointer, code }) => `${pointer} ${code}`);
  }
  return [];
}

describe('fit', () => {
  it('takes a mode, or an object with a color, also as JSON text of a form', () => {
    expect(parse({ fit: 'blur', ...SIZE })).toEqual({ mode: 'blur', color: '#000000', width: 1080, height: 1920 });
    const padded = { mode: 'pad', color: '#ffcc00', width: 1080, height: 1920 };
    expect(parse({ fit: '{"mode": "pad", "color": "#FFCC00"}', ...SIZE })).toEqual(padded);
    const json = { fit: { mode: 'pad', color: '#ffcc00' }, width: 1080, height: 1920 };
    expect(parse(json, { ...ON_IMAGE, isJson: true })).toEqual(padded);
  });

  it('leaves width and height beside an asset ignored when it is absent or blank', () => {
    expect(parse({ width: 'x', height: '-1' })).toBeUndefined();
    expect(parse({ fit: ' ', width: 'x' })).toBeUndefined();
  });

  it('reports every fault of fit, width and height at once', () => {
    expect(faultsOf(() => parse({ fit: 'stretch', width: '8' }))).toEqual([
      '#/width out_of_range',
      '#/height required',
      '#/fit invalid_choice',
    ]);
    expect(faultsOf(() => parse({ fit: '{"mode":"blur","color":"#12345","x":1}', ...SIZE }))).toEqual([
      '#/fit/x unknown_field',
      '#/fit/color invalid_color',
      '#/fit/color conflict',
    ]);
    expect(faultsOf(() => parse({ fit: '{"color":"#123456"}', ...SIZE }))).toEqual(['#/fit/mode required']);
    expect(faultsOf(() => parse({ fit: '{pad}', ...SIZE }))).toEqual(['#/fit invalid_json']);
    expect(faultsOf(() => parse({ fit: 3, ...SIZE }, { ...ON_IMAGE, isJson: true }))).toContain('#/fit wrong_type');
  });

  it('refuses more pixels than an overlay can have, and odd or long sides of a video', () => {
    expect(faultsOf(() => parse({ fit: 'crop', width: '8192', height: '8192' }))).toEqual(['#/width out_of_range']);
    expect(parse({ fit: 'crop', width: '1081', height: '1921' })).toMatchObject({ width: 1081 });
    expect(faultsOf(() => parse({ fit: 'crop', width: '1081', height: '4098' }, ON_VIDEO))).toEqual([
      '#/width out_of_range',
      '#/height out_of_range',
    ]);
  });

  it('conflicts with a request without an asset', () => {
    expect(faultsOf(() => parse({ fit: 'blur', ...SIZE }, {}))).toEqual(['#/fit conflict']);
  });
});
