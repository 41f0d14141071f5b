// The shape of the house, as data: who may import whom, and the rules that keep rooms small.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCE = path.resolve(import.meta.dirname, '../src');

/** A folder (or a file at the top of src) and what it may import, besides itself and `primitives`. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'errors.ts': [],
  primitives: [],
  caption: ['errors.ts'],
  layout: ['caption', 'errors.ts'],
  account: ['errors.ts'],
  raster: ['layout', 'caption', 'errors.ts'],
  media: ['layout', 'caption', 'errors.ts'],
  render: ['raster', 'media', 'layout', 'caption', 'errors.ts'],
  dispatch: ['render', 'media', 'errors.ts'],
  store: ['account', 'errors.ts'],
  billing: ['account', 'store', 'errors.ts'],
  mail: [],
  config: [],
  telemetry: [],
  http: ['dispatch', 'store', 'account', 'billing', 'caption', 'render', 'media', 'telemetry', 'errors.ts'],
  // The site: pages over what the API already has. `media` for the work directories of the front page's samples alone.
  dashboard: [
    'http',
    'store',
    'account',
    'billing',
    'mail',
    'caption',
    'dispatch',
    'render',
    'media',
    'telemetry',
    'errors.ts',
  ],
  'index.ts': ['render', 'media', 'caption', 'errors.ts'],
  // Composition roots; only the command line starts them.
  main: ['*'],
  cli: ['*'],
};

/** Inside these, only the interface of the folder may be imported from elsewhere. */
const INTERFACE_ONLY: Readonly<
  Record<string, { readonly from: readonly string[]; readonly files: readonly string[] }>
> = {
  dispatch: { from: ['http', 'dashboard'], files: ['dispatch/renderer.ts'] },
  store: { from: ['http', 'billing', 'dashboard'], files: ['store/store.ts', 'store/users.ts'] },
  billing: { from: ['http', 'dashboard'], files: ['billing/billing.ts'] },
};

/** These decide; they never touch a file, the network, a process or the clock. */
const PURE = new Set(['caption', 'layout', 'account']);
const ALLOWED_IN_PURE: Readonly<Record<string, readonly string[]>> = {
  // Hashes and random bits: values, not the outside world.
  account: ['node:crypto', 'node:zlib'],
};

interface Import {
  readonly file: string;
  readonly target: string;
}

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.split(path.sep).join('/'));
const production = files.filter((file) => !file.endsWith('.test.ts'));
const text = (file: string): string => readFileSync(path.join(SOURCE, file), 'utf8');
const roomOf = (file: string): string => file.split('/')[0] ?? file;

const imports: Import[] = production.flatMap((file) =>
  [...text(file).matchAll(/(?:from|import)\s*\(?\s*'(?<target>[^']+)'/gu)].map((match) => ({
    file,
    target: match.groups?.['target'] ?? '',
  })),
);
const internal = imports
  .filter(({ target }) => target.startsWith('.'))
  .map(({ file, target }) => ({ file, target: path.posix.join(path.posix.dirname(file), target) }));

describe('imports', () => {
  it('every room is in the table, and every row is a room', () => {
    expect([...new Set(production.map(roomOf))].toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
  });

  it('follow the table', () => {
    expect(internal.length).toBeGreaterThan(100);
    const forbidden = internal.filter(({ file, target }) => {
      const allowed = new Set(['primitives', ...(MAY_IMPORT[roomOf(file)] ?? [])]);
      return roomOf(file) !== roomOf(target) && !allowed.has('*') && !allowed.has(roomOf(target));
    });
    expect(forbidden).toEqual([]);
  });

  it('only the command line imports a composition root, and nothing imports the command line', () => {
    const outside = internal.filter(
      ({ file, target }) => roomOf(target) === 'main' && !['main', 'cli'].includes(roomOf(file)),
    );
    expect(outside).toEqual([]);
    expect(internal.filter(({ file, target }) => roomOf(target) === 'cli' && roomOf(file) !== 'cli')).toEqual([]);
  });

  it('reach only the interface where there is one', () => {
    const behind = internal.filter(({ file, target }) => {
      const rule = INTERFACE_ONLY[roomOf(target)];
      return rule?.from.includes(roomOf(file)) === true && !rule.files.includes(target);
    });
    expect(behind).toEqual([]);
  });

  it('pure rooms import nothing of the outside world', () => {
    const impure = imports.filter(({ file, target }) => {
      const room = roomOf(file);
      return PURE.has(room) && target.startsWith('node:') && !ALLOWED_IN_PURE[room]?.includes(target);
    });
    expect(impure).toEqual([]);
  });

  it('what runs in the browser imports nothing that does not', () => {
    const browser = imports.filter(({ file }) => file.startsWith('dashboard/browser/'));
    expect(browser.length).toBeGreaterThan(5);
    expect(browser.filter(({ target }) => !/^\.\/[\w-]+\.ts$/u.test(target))).toEqual([]);
  });

  it('only one file starts processes', () => {
    const starters = imports.filter(({ target }) => target === 'node:child_process').map(({ file }) => file);
    expect(starters).toEqual(['media/process.ts']);
  });
});

describe('files', () => {
  it('are short', () => {
    const lengths = production
      .filter((file) => !file.endsWith('.generated.ts'))
      .map((file) => ({ file, lines: text(file).split('\n').length - 1 }));
    expect(lengths.filter(({ lines }) => lines > 400)).toEqual([]);
    const sorted = lengths.map(({ lines }) => lines).toSorted((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(120);
  });

  it('live in folders of at most 24 files of production code', () => {
    const counts = new Map<string, number>();
    for (const file of production)
      counts.set(path.posix.dirname(file), (counts.get(path.posix.dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > 24)).toEqual([]);
  });

  it('export types under names that are unique in the project', () => {
    const declared = production.flatMap((file) =>
      [...text(file).matchAll(/^export (?:abstract )?(?:class|interface|type) (?<name>\w+)/gmu)].map((match) => ({
        file,
        name: match.groups?.['name'] ?? '',
      })),
    );
    const names = declared.map(({ name }) => name);
    expect(declared.filter(({ name }) => names.indexOf(name) !== names.lastIndexOf(name))).toEqual([]);
  });

  it('have names that say something', () => {
    expect(files.filter((file) => /(?:^|[/-])(?:utils?|helpers?|common|misc|manager)(?:[-./]|$)/u.test(file))).toEqual(
      [],
    );
  });

  it('read the environment in one place', () => {
    const readers = production.filter((file) => /process\.env(?!\['DISABLE_SYSTEM_FONTS_LOAD'\] =)/u.test(text(file)));
    expect(readers).toEqual(['config/settings.ts']);
  });

  it('have no default export', () => {
    expect(production.filter((file) => /^export default/mu.test(text(file)))).toEqual([]);
  });
});
