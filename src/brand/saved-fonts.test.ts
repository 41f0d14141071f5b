import { expect, it } from 'vitest';
import type { BrandFile } from '../store/brand/brand-files.ts';
import { SavedFonts } from './saved-fonts.ts';

const KNOWN = `font_${'1'.repeat(32)}`;
const UNKNOWN = `font_${'2'.repeat(32)}`;
const STORAGE = { copyTo: async () => true };

function formOf(font: string) {
  return { fields: [{ name: 'style', value: { font } }], isJson: true, faults: [] };
}

/** Counts the queries for fonts. */
function fontsWith(count: () => void): SavedFonts {
  const file: BrandFile = { id: KNOWN, kind: 'font', bytes: 1, sha256: '', facts: '{}', createdAt: '' };
  const list = async (): Promise<BrandFile[]> => {
    count();
    return [file];
  };
  return new SavedFonts({ list, findForRender: async () => undefined }, STORAGE);
}

it('looks up the fonts of a batch with one query, and reports each unknown one', async () => {
  let queries = 0;
  const fonts = fontsWith(() => (queries += 1));
  const forms = Array.from({ length: 100 }, (_, index) => formOf(index === 7 ? UNKNOWN : KNOWN));
  const checked = await fonts.checkAll('account', forms);
  expect(queries).toBe(1);
  const faulty = checked.flatMap(({ faults }, index) => (faults.length > 0 ? [[index, faults]] : []));
  expect(faulty).toMatchObject([[7, [{ pointer: '#/style/font', code: 'unknown_font' }]]]);
});

it('makes no query for requests without own fonts', async () => {
  let queries = 0;
  const forms = [formOf('anton')];
  expect(await fontsWith(() => (queries += 1)).checkAll('account', forms)).toBe(forms);
  expect(queries).toBe(0);
});
