// Architecture rules as data: the imports that each module may have, and the limits on files and folders.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { must } from '../src/primitives/must.ts';

const SOURCE = path.resolve(import.meta.dirname, '../src');

/** A module is a folder or a file directly in src. Each may import itself, `primitives`, the table of errors and the modules listed here. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'error-table.ts': [],
  'errors.ts': ['error-table.ts'],
  primitives: [],
  caption: ['errors.ts'],
  layout: ['caption', 'errors.ts'],
  account: ['errors.ts'],
  raster: ['layout', 'caption', 'errors.ts'],
  media: ['layout', 'caption', 'errors.ts'],
  render: ['raster', 'media', 'layout', 'caption', 'errors.ts'],
  storage: ['media', 'errors.ts'],
  dispatch: ['render', 'media', 'caption', 'errors.ts'],
  store: ['account', 'errors.ts'],
  billing: ['account', 'store', 'errors.ts'],
  mail: [],
  config: [],
  telemetry: [],
  // The interface for callers: statuses, problems, and schemas of responses.
  api: ['store', 'render', 'caption', 'errors.ts'],
  fetch: ['media', 'caption', 'errors.ts'],
  // How much an account, an address or a file may ask for.
  limits: ['store', 'account', 'errors.ts'],
  // The use case: the life of a render, whoever requests it. It knows nothing of HTTP requests.
  renders: [
    'api',
    'fetch',
    'limits',
    'dispatch',
    'store',
    'storage',
    'account',
    'caption',
    'render',
    'media',
    'telemetry',
    'errors.ts',
  ],
  // What an account saved for its renders.
  brand: [
    'api',
    'renders',
    'limits',
    'dispatch',
    'store',
    'storage',
    'account',
    'caption',
    'layout',
    'render',
    'media',
    'errors.ts',
  ],
  webhooks: ['api', 'renders', 'limits', 'fetch', 'mail', 'store', 'account', 'caption', 'telemetry', 'errors.ts'],
  http: [
    'api',
    'brand',
    'renders',
    'webhooks',
    'fetch',
    'limits',
    'dispatch',
    'store',
    'storage',
    'account',
    'billing',
    'caption',
    'render',
    'media',
    'telemetry',
    'errors.ts',
  ],
  // The website. It needs `media` for the work directories of style previews and share images, and for a limit of fonts.
  dashboard: [
    'api',
    'brand',
    'renders',
    'webhooks',
    'http',
    'limits',
    'store',
    'account',
    'billing',
    'mail',
    'caption',
    'layout',
    'dispatch',
    'render',
    'media',
    'telemetry',
    'errors.ts',
  ],
  'index.ts': ['render', 'media', 'caption', 'errors.ts'],
  // Composition roots and the command line, which starts them.
  main: ['*'],
  cli: ['*'],
};

/** The modules in `from` may import only the interface files of these modules. */
const INTERFACE_ONLY: Readonly<
  Record<string, { readonly from: readonly string[]; readonly files: readonly string[] }>
> = {
  dispatch: { from: ['brand', 'renders', 'http', 'dashboard'], files: ['dispatch/renderer.ts'] },
  store: {
    from: ['api', 'limits', 'brand', 'renders', 'webhooks', 'http', 'billing', 'dashboard'],
    files: [
      'store/accounts/account-data.ts',
      'store/accounts/accounts.ts',
      'store/accounts/keys.ts',
      'store/accounts/operator-data.ts',
      'store/audit.ts',
      'store/brand/brand-files.ts',
      'store/brand/styles.ts',
      'store/incidents/incidents.ts',
      'store/ledger/credit-notices.ts',
      'store/ledger/holds.ts',
      'store/ledger/ledger.ts',
      'store/ledger/usage-details.ts',
      'store/ledger/usage.ts',
      'store/limits.ts',
      'store/people/linked-identities.ts',
      'store/people/members.ts',
      'store/people/passkeys.ts',
      'store/people/second-factors.ts',
      'store/people/sessions.ts',
      'store/people/user.ts',
      'store/people/users.ts',
      'store/renders/lock-attempt.ts',
      'store/renders/render.ts',
      'store/renders/renders.ts',
      'store/requests/idempotency.ts',
      'store/requests/request-log.ts',
      'store/store.ts',
      'store/webhooks/webhook-deliveries.ts',
      'store/webhooks/webhook.ts',
    ],
  },
  storage: { from: ['brand', 'renders', 'http'], files: ['storage/object-storage.ts'] },
  billing: { from: ['http', 'dashboard'], files: ['billing/billing.ts'] },
};

/** Pure modules: they never access files, the network, processes or the clock. */
const PURE = new Set(['caption', 'layout', 'account']);
const ALLOWED_IN_PURE: Readonly<Record<string, readonly string[]>> = {
  // Hashes, checksums and random bits need no I/O.
  account: ['node:crypto', 'node:zlib'],
};

/** Compiled for browsers, together with what it imports, and served by `dashboard/assets.ts`. */
const BROWSER_CODE = 'dashboard/browser/';

const MAX_LINES = 400;
/** A table is one thing, however many rows it has. */
const TABLES = new Set(['error-table.ts']);
const MAX_MEDIAN_LINES = 120;

interface Import {
  readonly file: string;
  readonly target: string;
}

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.split(path.sep).join('/'));
const production = files.filter((file) => !file.endsWith('.test.ts'));
const text = (file: string): string => readFileSync(path.join(SOURCE, file), 'utf8');
const moduleOf = (file: string): string => must(file.split('/')[0], 'module');

const imports: Import[] = production.flatMap((file) =>
  [...text(file).matchAll(/(?:from|import)\s*\(?\s*'(?<target>[^']+)'/gu)].map((match) => ({
    file,
    target: must(match.groups?.['target'], 'import target'),
  })),
);
const internal = imports
  .filter(({ target }) => target.startsWith('.'))
  .map(({ file, target }) => ({ file, target: path.posix.join(path.posix.dirname(file), target) }));

/** The files and packages that a file imports at run time. An import of types is erased. */
function loadedBy(file: string): string[] {
  if (!production.includes(file)) return [];
  return [...text(file).matchAll(/^(?:import|export) (?!type )(?:[^;]*? from )?'(?<target>[^']+)';$/gmu)].map(
    (match) => {
      const target = must(match.groups?.['target'], 'import target');
      return target.startsWith('.') ? path.posix.join(path.posix.dirname(file), target) : target;
    },
  );
}

/** Files that import each other in a circle, one circle for each place where the walk closes one. */
function circlesOf(edges: readonly Import[]): string[][] {
  const targets = new Map<string, string[]>();
  for (const { file, target } of edges) targets.set(file, [...(targets.get(file) ?? []), target]);
  const circles: string[][] = [];
  const visited = new Set<string>();
  const trail: string[] = [];
  const visit = (file: string): void => {
    if (trail.includes(file)) circles.push(trail.slice(trail.indexOf(file)));
    if (visited.has(file)) return;
    visited.add(file);
    trail.push(file);
    for (const target of targets.get(file) ?? []) visit(target);
    trail.pop();
  };
  for (const file of targets.keys()) visit(file);
  return circles;
}

describe('import rules', () => {
  it('the import table lists every module, and only modules that exist', () => {
    expect([...new Set(production.map(moduleOf))].toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
  });

  it('imports between modules follow the import table', () => {
    expect(internal.length).toBeGreaterThan(100);
    const forbidden = internal.filter(({ file, target }) => {
      const allowed = new Set(['primitives', 'error-table.ts', ...(MAY_IMPORT[moduleOf(file)] ?? [])]);
      return moduleOf(file) !== moduleOf(target) && !allowed.has('*') && !allowed.has(moduleOf(target));
    });
    expect(forbidden).toEqual([]);
  });

  it('only cli imports main', () => {
    const importsOfMain = internal.filter(
      ({ file, target }) => moduleOf(target) === 'main' && !['main', 'cli'].includes(moduleOf(file)),
    );
    expect(importsOfMain).toEqual([]);
  });

  it('nothing imports cli', () => {
    expect(internal.filter(({ file, target }) => moduleOf(target) === 'cli' && moduleOf(file) !== 'cli')).toEqual([]);
  });

  it('modules with an interface are imported only through it', () => {
    const bypassing = internal.filter(({ file, target }) => {
      const rule = INTERFACE_ONLY[moduleOf(target)];
      return rule?.from.includes(moduleOf(file)) === true && !rule.files.includes(target);
    });
    expect(bypassing).toEqual([]);
  });

  it('no files import each other in a circle, not even their types', () => {
    expect(circlesOf(internal)).toEqual([]);
  });

  it('a circle of imports is found, whichever file comes first', () => {
    const circle = [
      { file: 'before.ts', target: 'a.ts' },
      { file: 'a.ts', target: 'b.ts' },
      { file: 'b.ts', target: 'after.ts' },
      { file: 'b.ts', target: 'c.ts' },
      { file: 'c.ts', target: 'a.ts' },
    ];
    for (const start of circle.keys()) {
      const [found] = circlesOf([...circle.slice(start), ...circle.slice(0, start)]);
      expect(found?.toSorted()).toEqual(['a.ts', 'b.ts', 'c.ts']);
    }
  });

  it('only the API, the site and their composition root know Fastify and HTTP requests', () => {
    const knowing = new Set(
      imports
        .filter(({ target }) => target === 'fastify' || target.startsWith('@fastify/'))
        .map(({ file }) => moduleOf(file)),
    );
    expect([...knowing].toSorted()).toEqual(['dashboard', 'http', 'main']);
    const usesNodeHttp = imports.filter(
      ({ file, target }) =>
        target === 'node:http' && ['renders', 'limits', 'account', 'store'].includes(moduleOf(file)),
    );
    expect(usesNodeHttp).toEqual([]);
  });

  it('pure modules import no Node.js module that does I/O', () => {
    const impure = imports.filter(({ file, target }) => {
      const module = moduleOf(file);
      return PURE.has(module) && target.startsWith('node:') && !ALLOWED_IN_PURE[module]?.includes(target);
    });
    expect(impure).toEqual([]);
  });

  it('browser code loads only browser code and pure modules, which load no package', () => {
    const loaded = new Set(production.filter((file) => file.startsWith(BROWSER_CODE)));
    expect(loaded.size).toBeGreaterThan(5);
    // Iterating a set also visits items that are added on the way.
    for (const file of loaded) for (const target of loadedBy(file)) loaded.add(target);
    const isForBrowsers = (file: string): boolean =>
      file.startsWith(BROWSER_CODE) || [...PURE, 'primitives', 'errors.ts'].includes(moduleOf(file));
    expect([...loaded].filter((file) => !isForBrowsers(file))).toEqual([]);
    expect([...loaded]).toContain('account/pricing.ts');
  });

  it('storybar send makes its requests with the client of clients/typescript', () => {
    const own = production.filter(
      (file) => file.startsWith('cli/send/') && /\bfetch\(|'node:https?'/u.test(text(file)),
    );
    expect(own).toEqual([]);
    expect(imports).toContainEqual({ file: 'cli/send/sending.ts', target: '#client' });
  });

  it('only media/process.ts imports node:child_process', () => {
    const importers = imports.filter(({ target }) => target === 'node:child_process').map(({ file }) => file);
    expect(importers).toEqual(['media/process.ts']);
  });
});

describe('file rules', () => {
  it(`no source file has more than ${MAX_LINES} lines, and half of them have at most ${MAX_MEDIAN_LINES}`, () => {
    const lengths = production
      .filter((file) => !file.endsWith('.generated.ts') && !TABLES.has(file))
      .map((file) => ({ file, lines: text(file).split('\n').length - 1 }));
    expect(lengths.filter(({ lines }) => lines > MAX_LINES)).toEqual([]);
    const sorted = lengths.map(({ lines }) => lines).toSorted((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(MAX_MEDIAN_LINES);
  });

  it('exported types have unique names', () => {
    const declared = production.flatMap((file) =>
      [...text(file).matchAll(/^export (?:abstract )?(?:class|interface|type) (?<name>\w+)/gmu)].map((match) => ({
        file,
        name: must(match.groups?.['name'], 'type name'),
      })),
    );
    const names = declared.map(({ name }) => name);
    expect(declared.filter(({ name }) => names.indexOf(name) !== names.lastIndexOf(name))).toEqual([]);
  });

  it('no file is named utils, helpers, common, misc or manager', () => {
    expect(files.filter((file) => /(?:^|[/-])(?:utils?|helpers?|common|misc|manager)(?:[-./]|$)/u.test(file))).toEqual(
      [],
    );
  });

  it('only config/settings.ts reads environment variables', () => {
    const readers = production.filter((file) => /process\.env(?!\['DISABLE_SYSTEM_FONTS_LOAD'\] =)/u.test(text(file)));
    expect(readers).toEqual(['config/settings.ts']);
  });

  it('no test has a shorter time limit than the others, because machines differ', () => {
    const tests = ['src', 'test'].flatMap((folder) => {
      const root = path.resolve(SOURCE, '..', folder);
      const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
        (name) => name.endsWith('.test.ts') && !name.includes('node_modules'),
      );
      return names.map((name) => path.join(root, name));
    });
    const isLimited = (file: string): boolean =>
      /^\s*\}, \d+_000\);$|^ {2}\},\n {2}\d+_000,\n\);$/mu.test(readFileSync(file, 'utf8'));
    expect(tests.filter(isLimited)).toEqual([]);
  });

  it('no file has a default export', () => {
    expect(production.filter((file) => /^export default/mu.test(text(file)))).toEqual([]);
  });
});
