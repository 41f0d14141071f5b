import { expect, it } from 'vitest';
import { type ReadFields, readFields } from '../../engine/caption/field-reader.ts';
import type { StyleVersion, Styles } from '../store/brand/styles.ts';
import { SavedStyles } from './saved-styles.ts';

const KNOWN = `font_${'1'.repeat(32)}`;
const UNKNOWN = `font_${'2'.repeat(32)}`;
const LOGO = `logo_${'3'.repeat(32)}`;

function requestWith(style: unknown): ReadFields {
  const fields = [{ name: 'style', value: style }];
  return readFields({ fields, isJson: true, hasAsset: false, faults: [] });
}

/** Counts the queries. The only style, `acme`, has a logo that was deleted. */
function stylesWith(onQuery: (name: string) => void): SavedStyles {
  const style = JSON.stringify({ preset: 'box', logo: { id: LOGO } });
  const acme: StyleVersion = { name: 'acme', version: 1, style, updatedAt: '' };
  const styles = {
    use: async () => {
      onQuery('styles');
      return new Map([['acme', acme]]);
    },
    list: async () => [acme],
  } as unknown as Styles;
  const ids = async (): Promise<ReadonlySet<string>> => {
    onQuery('files');
    return new Set([KNOWN]);
  };
  return new SavedStyles(styles, { ids });
}

it('looks up the names of a batch with one query for styles and one for files, and reports each unknown one', async () => {
  const queries: string[] = [];
  const saved = stylesWith((name) => queries.push(name));
  const special = new Map<number, unknown>([
    [7, { font: UNKNOWN }],
    [8, 'acme'],
    [9, { preset: 'acme', logo: { id: LOGO } }],
    [10, 'acm'],
  ]);
  const requests = Array.from({ length: 100 }, (_, index) => requestWith(special.get(index) ?? { font: KNOWN }));
  const resolved = await saved.resolveAll('account', requests);
  expect(queries).toEqual(['styles', 'files']);
  const faulty = resolved.flatMap(({ faults }, index) => faults.map(({ pointer, code }) => [index, pointer, code]));
  expect(faulty).toEqual([
    [7, '#/style/font', 'unknown_font'],
    [8, '#/style', 'unknown_logo'],
    [9, '#/style/logo/id', 'unknown_logo'],
    [10, '#/style', 'unknown_style'],
  ]);
});

it('makes no query for requests without names', async () => {
  const queries: string[] = [];
  const saved = stylesWith((name) => queries.push(name));
  const request = requestWith({ preset: 'box', font: 'anton' });
  expect(await saved.resolve('account', request)).toEqual(request);
  expect(queries).toEqual([]);
});
