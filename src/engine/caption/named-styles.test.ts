import { describe, expect, it } from 'vitest';
import { type Form, type ReadFields, readFields } from './field-reader.ts';
import { parseFields } from './form.ts';
import { missingStyle, referencesIn, withSavedStyles } from './named-styles.ts';
import { checkSavedStyle, nameFault, type SavedStyle } from './saved-style.ts';
import type { FieldFault } from '../../shared/errors.ts';

const ACME: SavedStyle = { preset: 'box', color: '#ffcc00', position: 80, safe_area: 'tiktok', max_words: 3 };
const OLD: SavedStyle = { size: 2 };
const SAVED: Readonly<Record<string, SavedStyle>> = { acme: ACME, 'acme@1': OLD };

function json(request: Record<string, unknown>): Form {
  const fields = Object.entries(request).map(([name, value]) => ({ name, value }));
  return { fields, isJson: true, hasAsset: false, faults: [] };
}

function form(...fields: readonly (readonly [string, string])[]): Form {
  return { fields: fields.map(([name, value]) => ({ name, value })), hasAsset: false, faults: [] };
}

const resolve = (one: Form): ReadFields =>
  withSavedStyles(
    readFields(one),
    (reference, pointer) => SAVED[reference] ?? missingStyle(reference, ['acme'], pointer),
  );

const CANVAS = { width: 100, height: 100 };
const overlaysOf = async (one: Form) => (await parseFields(resolve(one))).overlays;

describe('a saved style in a request', () => {
  it('stands for its keys, and gives the request the fields that it lacks', async () => {
    expect(await overlaysOf(json({ text: 'Hi', style: 'acme', ...CANVAS }))).toEqual([
      { text: 'Hi', position: 80, style: { preset: 'box', color: '#ffcc00' }, safeArea: 'tiktok' },
    ]);
  });

  it('loses to the fields and keys of the request', async () => {
    const request = { text: 'Hi', position: 10, safe_area: 'none', style: { preset: 'acme', color: '#000000' } };
    expect(await overlaysOf(json({ ...request, ...CANVAS }))).toEqual([
      { text: 'Hi', position: 10, style: { preset: 'box', color: '#000000' } },
    ]);
  });

  it('keeps its value where the request has null or a blank field', async () => {
    const sent = json({ text: 'Hi', position: null, style: { preset: 'acme', color: null }, ...CANVAS });
    expect(await overlaysOf(sent)).toMatchObject([{ position: 80, style: { color: '#ffcc00' } }]);
    const blank = form(['text', 'Hi'], ['position', ' '], ['style', 'acme'], ['width', '99'], ['height', '99']);
    expect(resolve(blank).values).toMatchObject({ position: 80, safe_area: 'tiktok' });
  });

  it.each(['acme@1', '"acme@1"', '{"preset": "acme@1"}'])('can be %s in a form', async (style) => {
    const sent = form(['text', 'Hi'], ['style', style], ['width', '99'], ['height', '99']);
    expect(await overlaysOf(sent)).toEqual([{ text: 'Hi', position: null, style: { preset: 'bar', size: 2 } }]);
  });

  it('has no position beside overlays, and only its caption keys count in the style of an overlay', async () => {
    const overlays = [{ text: 'a', style: 'acme' }, { text: 'b' }];
    expect(await overlaysOf(json({ overlays, style: { preset: 'acme@1' }, ...CANVAS }))).toEqual([
      { text: 'a', position: null, style: { preset: 'box', color: '#ffcc00' } },
      { text: 'b', position: null, style: { preset: 'bar', size: 2 } },
    ]);
    expect(await overlaysOf(json({ overlays, style: 'acme', ...CANVAS }))).toMatchObject([
      { position: null, safeArea: 'tiktok' },
      { position: null, safeArea: 'tiktok' },
    ]);
  });

  it('is replaced in every overlay that a form repeats', () => {
    const repeated = form(['overlays', '{"text":"a"}'], ['overlays', '{"text":"b","style":"acme@7"}']);
    expect(resolve(repeated).faults).toMatchObject([{ pointer: '#/overlays/1/style', code: 'unknown_style' }]);
  });

  it('leaves a request alone that names none', () => {
    for (const style of ['box', { preset: 'plain' }, 5, null, ['acme'], { preset: 7 }, '{"preset": "ac']) {
      const sent = json({ text: 'Hi', style, ...CANVAS });
      expect(resolve(sent)).toEqual(readFields(sent));
      expect(referencesIn(readFields(sent))).toEqual([]);
    }
  });

  it('is reported with similar names, beside all other faults, when it is unknown', async () => {
    const faultsOf = async (one: Form): Promise<readonly FieldFault[]> => {
      try {
        await parseFields(resolve(one));
        return [];
      } catch (error) {
        return (error as { faults: FieldFault[] }).faults;
      }
    };
    expect(await faultsOf(json({ text: '', style: { preset: 'acm', size: 9 }, ...CANVAS }))).toEqual([
      expect.objectContaining({ pointer: '#/text', code: 'blank' }),
      { pointer: '#/style/preset', code: 'unknown_style', detail: 'Style "acm" does not exist. Did you mean acme?' },
      expect.objectContaining({ pointer: '#/style/size', code: 'out_of_range' }),
    ]);
    expect(await faultsOf(json({ text: 'Hi', style: 'acme@9', ...CANVAS }))).toMatchObject([
      { pointer: '#/style', detail: expect.stringContaining('Version 9 of style') },
    ]);
    expect(await faultsOf(json({ text: 'Hi', style: 'boxx', ...CANVAS }))).toMatchObject([
      { pointer: '#/style', code: 'unknown_style', detail: 'Style "boxx" does not exist. Did you mean box?' },
    ]);
  });
});

describe('a style to save', () => {
  const check = (fields: Record<string, unknown>): { style: SavedStyle; faults: string[] } => {
    const faults: FieldFault[] = [];
    const style = checkSavedStyle(fields, faults);
    return { style, faults: faults.map(({ pointer, code }) => `${pointer} ${code}`) };
  };

  it('has one canonical form, whatever the order and case of its keys', () => {
    const one = check({ position: 80, color: '#FFCC00', preset: 'box', size: null, max_lines: 1, highlight: 'box' });
    const other = check({ highlight: { mode: 'box' }, preset: 'box', max_lines: 1, color: '#ffcc00', position: 80 });
    expect(JSON.stringify(one.style)).toBe(JSON.stringify(other.style));
    expect(one).toEqual({
      style: { preset: 'box', color: '#ffcc00', highlight: { mode: 'box' }, position: 80, max_lines: 1 },
      faults: [],
    });
  });

  it('is rejected with all of its faults', () => {
    const fields = { preset: 'acme', position: 101, max_words: 0, safe_area: 'x', text: 'Hi', color: 'red' };
    expect(check(fields).faults.toSorted()).toEqual([
      '#/color invalid_color',
      '#/max_words out_of_range',
      '#/position out_of_range',
      '#/preset unknown_style',
      '#/safe_area invalid_choice',
      '#/text unknown_field',
    ]);
    expect(check({ preset: 'outline', background: '#000000' }).faults).toEqual(['#/background conflict']);
  });

  it.each(['Acme', '', '-a', 'a_b', 'a'.repeat(41), 'acme@3', 'é'])('must not have the name %j', (name) => {
    expect(nameFault(name)).toMatchObject({ code: 'invalid_choice' });
  });

  it('must not have the name of a preset', () => {
    expect(nameFault('bar-light')).toMatchObject({ code: 'conflict' });
    expect(nameFault('a'.repeat(40))).toBeUndefined();
  });
});
