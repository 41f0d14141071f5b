import { describe, expect, it } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import type { Form } from './field-reader.ts';
import { parseForm } from './form.ts';
import type { Overlay } from './overlay.ts';

type Values = Readonly<Record<string, unknown>>;

function parse(values: Values, isJson: boolean): readonly Overlay[] {
  const fields: Form['fields'] = Object.entries(values).map(([name, value]) => ({ name, value }));
  return parseForm({ fields, isJson, hasAsset: true, faults: [] }).overlays;
}

const fromJson = (values: Values): readonly Overlay[] => parse({ text: 'a', ...values }, true);
const fromForm = (values: Values): readonly Overlay[] => parse({ text: 'a', ...values }, false);

function faultsOf(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error.faults.map(({ pointer, code }) => `${pointer} ${code}`);
    throw error;
  }
  return [];
}

describe('the style of a request', () => {
  it('a style can be the name of a preset, in JSON and in forms', () => {
    expect(fromJson({ style: 'box' })[0]?.style).toEqual({ preset: 'box' });
    expect(fromForm({ style: ' bar-light ' })[0]?.style).toEqual({ preset: 'bar-light' });
    expect(fromForm({ style: '"bar-light"' })[0]?.style).toEqual({ preset: 'bar-light' });
  });

  it('a style can be an object, which forms send as JSON text', () => {
    const style = {
      preset: 'box',
      color: '#FFCC00',
      background: '#00000080',
      size: 1.5,
      align: 'left',
      weight: 'bold',
    };
    const expected = { ...style, color: '#ffcc00' };
    expect(fromJson({ style })[0]?.style).toEqual(expected);
    expect(fromForm({ style: JSON.stringify(style) })[0]?.style).toEqual(expected);
  });

  it('a style leaves overlays without one as they were when it is omitted, blank, null or empty', () => {
    for (const style of [null, {}]) expect(fromJson({ style })).toEqual([{ text: 'a', position: null }]);
    for (const style of ['', '  ', '{}']) expect(fromForm({ style })).toEqual([{ text: 'a', position: null }]);
  });

  it('a style counts null inside the object as omitted', () => {
    expect(fromJson({ style: { preset: 'box', color: null, size: null } })[0]?.style).toEqual({ preset: 'box' });
  });

  it('every fault of a style is reported at its own pointer', () => {
    const style = {
      preset: 'bubble',
      color: 'red',
      background: '#12345',
      size: 3.01,
      align: 'start',
      weight: 700,
      'a/b': 1,
    };
    expect(faultsOf(() => fromJson({ style }))).toEqual([
      '#/style/a~1b unknown_field',
      '#/style/preset unknown_style',
      '#/style/color invalid_color',
      '#/style/background invalid_color',
      '#/style/size out_of_range',
      '#/style/align invalid_choice',
      '#/style/weight wrong_type',
    ]);
  });

  it.each([0.49, 3.01, -1, 0, 1e9])('a style must not have the size %d', (size) => {
    expect(faultsOf(() => fromJson({ style: { size } }))).toEqual(['#/style/size out_of_range']);
  });

  it.each(['1', true, [1], {}])('a style must have a number as its size, not %j', (size) => {
    expect(faultsOf(() => fromJson({ style: { size } }))).toEqual(['#/style/size wrong_type']);
  });

  it.each(['#fff', 'ffffff', '#ggg000', '#1234567', 'red', '', '#ffffff '])(
    'a style must not have the color %j',
    (color) => {
      expect(faultsOf(() => fromJson({ style: { color } }))).toEqual(['#/style/color invalid_color']);
    },
  );

  it('a style is rejected when it has the wrong type, an unknown preset or broken JSON', () => {
    expect(faultsOf(() => fromJson({ style: 5 }))).toEqual(['#/style wrong_type']);
    expect(faultsOf(() => fromJson({ style: ['box'] }))).toEqual(['#/style wrong_type']);
    expect(faultsOf(() => fromJson({ style: 'Box' }))).toEqual(['#/style unknown_style']);
    expect(faultsOf(() => fromForm({ style: '{"preset":' }))).toEqual(['#/style invalid_json']);
    expect(faultsOf(() => fromForm({ style: '["box"]' }))).toEqual(['#/style unknown_style']);
  });

  it.each(['outline', 'plain'])('a style conflicts with a background when its preset is %s', (preset) => {
    const style = { preset, background: '#ff0000' };
    expect(faultsOf(() => fromJson({ style }))).toEqual(['#/style/background conflict']);
    expect(faultsOf(() => fromJson({ text: null, overlays: [{ text: 'a' }, { text: 'b', style }] }))).toEqual([
      '#/overlays/1/style/background conflict',
    ]);
  });
});

describe('the style of an overlay', () => {
  const styles = (style: unknown, ...own: readonly unknown[]): unknown[] =>
    parse({ style, overlays: own.map((item) => ({ text: 'a', style: item })) }, true).map((overlay) => overlay.style);

  it('defaults to that of the request', () => {
    expect(styles('box', null, 'outline')).toEqual([{ preset: 'box' }, { preset: 'outline' }]);
  });

  it('the style of an overlay replaces that of the request when it names a preset, and changes its own keys otherwise', () => {
    const request = { preset: 'box', background: '#ff0000', size: 2 };
    expect(styles(request, { size: 1 }, { preset: 'plain' }, 'bar', { align: 'left' })).toEqual([
      { preset: 'box', background: '#ff0000', size: 1 },
      { preset: 'plain' },
      { preset: 'bar' },
      { preset: 'box', background: '#ff0000', size: 2, align: 'left' },
    ]);
  });

  it('the style of an overlay conflicts where its background meets a preset of the request that has none', () => {
    expect(faultsOf(() => styles('outline', null, { background: '#000000' }))).toEqual([
      '#/overlays/1/style/background conflict',
    ]);
  });

  it('a conflict within the style of the request is reported once', () => {
    expect(faultsOf(() => styles({ preset: 'plain', background: '#000000' }, null, { size: 2 }))).toEqual([
      '#/style/background conflict',
    ]);
  });

  it('the faults of an overlay’s style are reported beside all others', () => {
    const overlays = [
      { text: '', style: { size: 9 } },
      { text: 'b', style: { colour: '#000000' } },
    ];
    expect(faultsOf(() => parse({ style: 'x', safe_area: 'y', overlays }, true))).toEqual([
      '#/overlays/0/text blank',
      '#/overlays/0/style/size out_of_range',
      '#/overlays/1/style/colour unknown_field',
      '#/style unknown_style',
      '#/safe_area invalid_choice',
    ]);
  });
});

describe('the safe area of a request', () => {
  it.each(['tiktok', 'reels', 'shorts', 'stories', 'all'] as const)(
    'a safe area can be %s and applies to every overlay',
    (area) => {
      const overlays = [{ text: 'a' }, { text: 'b' }];
      const parsed = parse({ safe_area: area, overlays }, true);
      expect(parsed.map(({ safeArea }) => safeArea)).toEqual([area, area]);
      expect(fromForm({ safe_area: ` ${area}` })[0]?.safeArea).toBe(area);
    },
  );

  it('the safe area is absent when it is none, omitted, blank or null', () => {
    for (const area of ['none', null]) expect(fromJson({ safe_area: area })).toEqual([{ text: 'a', position: null }]);
    for (const area of ['none', ' ']) expect(fromForm({ safe_area: area })).toEqual([{ text: 'a', position: null }]);
  });

  it('a safe area is rejected when it is unknown or has the wrong type', () => {
    expect(faultsOf(() => fromForm({ safe_area: 'snapchat' }))).toEqual(['#/safe_area invalid_choice']);
    expect(faultsOf(() => fromJson({ safe_area: true }))).toEqual(['#/safe_area wrong_type']);
  });
});
