// Architecture rules as data: the imports that each module may have, and the limits on files and folders.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { must } from '../src/shared/must.ts';

const SOURCE = path.resolve(import.meta.dirname, '../src');

/** A module is a folder of the engine or the service, or another building as a whole. Each may import itself, `shared` and the modules listed here. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  'engine/caption': [],
  'engine/layout': ['engine/caption'],
  'service/account': [],
  'engine/raster': ['engine/layout', 'engine/caption'],
  'engine/media': ['engine/layout', 'engine/caption'],
  'engine/render': ['engine/raster', 'engine/media', 'engine/layout', 'engine/caption'],
  'service/storage': ['engine/media'],
  'service/dispatch': ['engine/render', 'engine/media', 'engine/caption'],
  'service/store': ['service/account'],
  'service/billing': ['service/account', 'service/store'],
  'service/mail': [],
  'service/config': [],
  'service/telemetry': [],
  // The interface for callers: statuses, problems, and schemas of responses.
  'service/api': ['service/store', 'engine/render', 'engine/caption'],
  'service/fetch': ['engine/media', 'engine/caption'],
  // How much an account, an address or a file may ask for.
  'service/limits': ['service/store', 'service/account'],
  // The use case: the life of a render, whoever requests it. It knows nothing of HTTP requests.
  'service/renders': [
    'service/api',
    'service/fetch',
    'service/limits',
    'service/dispatch',
    'service/store',
    'service/storage',
    'service/account',
    'engine/caption',
    'engine/render',
    'engine/media',
    'service/telemetry',
  ],
  // What an account saved for its renders.
  'service/brand': [
    'service/api',
    'service/renders',
    'service/limits',
    'service/dispatch',
    'service/store',
    'service/storage',
    'service/account',
    'engine/caption',
    'engine/layout',
    'engine/render',
    'engine/media',
  ],
  'service/webhooks': [
    'service/api',
    'service/renders',
    'service/limits',
    'service/fetch',
    'service/mail',
    'service/store',
    'service/account',
    'engine/caption',
    'service/telemetry',
  ],
  'service/http': [
    'service/api',
    'service/brand',
    'service/renders',
    'service/webhooks',
    'service/fetch',
    'service/limits',
    'service/dispatch',
    'service/store',
    'service/storage',
    'service/account',
    'service/billing',
    'engine/caption',
    'engine/render',
    'engine/media',
    'service/telemetry',
  ],
  // The website. It needs `media` for the work directories of style previews and share images, and for a limit of fonts.
  site: [
    'service/api',
    'service/brand',
    'service/renders',
    'service/webhooks',
    'service/http',
    'service/limits',
    'service/store',
    'service/account',
    'service/billing',
    'service/mail',
    'engine/caption',
    'engine/layout',
    'service/dispatch',
    'engine/render',
    'engine/media',
    'service/telemetry',
  ],
  'engine/index.ts': ['engine/render', 'engine/media', 'engine/caption'],
  // Composition roots and the command line, which starts them.
  main: ['*'],
  cli: ['*'],
};

/** The modules in `from` may import only the interface files of these modules. */
const INTERFACE_ONLY: Readonly<
  Record<string, { readonly from: readonly string[]; readonly files: readonly string[] }>
> = {
  'service/dispatch': {
    from: ['service/brand', 'service/renders', 'service/http', 'site'],
    files: ['service/dispatch/renderer.ts'],
  },
  'service/store': {
    from: [
      'service/api',
      'service/limits',
      'service/brand',
      'service/renders',
      'service/webhooks',
      'service/http',
      'service/billing',
      'site',
    ],
    files: [
      'service/store/accounts/account-data.ts',
      'service/store/accounts/accounts.ts',
      'service/store/accounts/keys.ts',
      'service/store/accounts/operator-data.ts',
      'service/store/audit.ts',
      'service/store/brand/brand-files.ts',
      'service/store/brand/styles.ts',
      'service/store/incidents/incidents.ts',
      'service/store/ledger/credit-notices.ts',
      'service/store/ledger/holds.ts',
      'service/store/ledger/ledger.ts',
      'service/store/ledger/usage-details.ts',
      'service/store/ledger/usage.ts',
      'service/store/limits.ts',
      'service/store/people/linked-identities.ts',
      'service/store/people/members.ts',
      'service/store/people/passkeys.ts',
      'service/store/people/second-factors.ts',
      'service/store/people/sessions.ts',
      'service/store/people/user.ts',
      'service/store/people/users.ts',
      'service/store/renders/lock-attempt.ts',
      'service/store/renders/render.ts',
      'service/store/renders/renders.ts',
      'service/store/requests/idempotency.ts',
      'service/store/requests/request-log.ts',
      'service/store/store.ts',
      'service/store/webhooks/webhook-deliveries.ts',
      'service/store/webhooks/webhook.ts',
    ],
  },
  'service/storage': {
    from: ['service/brand', 'service/renders', 'service/http'],
    files: ['service/storage/object-storage.ts'],
  },
  'service/billing': { from: ['service/http', 'site'], files: ['service/billing/billing.ts'] },
};

/** Pure modules: they never access files, the network, processes or the clock. */
const PURE = new Set(['engine/caption', 'engine/layout', 'service/account']);
const ALLOWED_IN_PURE: Readonly<Record<string, readonly string[]>> = {
  // Hashes, checksums and random bits need no I/O.
  'service/account': ['node:crypto', 'node:zlib'],
};

/** Compiled for browsers, together with what it imports, and served by `site/assets.ts`. */
const BROWSER_CODE = 'site/browser/';

const MAX_LINES = 400;
/** A table is one thing, however many rows it has. */
const TABLES = new Set(['shared/error-table.ts']);
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
const moduleOf = (file: string): string => {
  const [building = '', folder = ''] = file.split('/');
  return ['engine', 'service'].includes(building) ? `${building}/${folder}` : building;
};

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
      const allowed = new Set(['shared', ...(MAY_IMPORT[moduleOf(file)] ?? [])]);
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
    expect([...knowing].toSorted()).toEqual(['main', 'service/http', 'site']);
    const usesNodeHttp = imports.filter(
      ({ file, target }) =>
        target === 'node:http' &&
        ['renders', 'limits', 'account', 'store'].includes(moduleOf(file).replace('service/', '')),
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
      file.startsWith(BROWSER_CODE) || [...PURE, 'shared'].includes(moduleOf(file));
    expect([...loaded].filter((file) => !isForBrowsers(file))).toEqual([]);
    expect([...loaded]).toContain('service/account/pricing.ts');
  });

  it('storybar send makes its requests with the client of clients/typescript', () => {
    const own = production.filter(
      (file) => file.startsWith('cli/send/') && /\bfetch\(|'node:https?'/u.test(text(file)),
    );
    expect(own).toEqual([]);
    expect(imports).toContainEqual({ file: 'cli/send/sending.ts', target: '#client' });
  });

  it('only engine/media/process.ts imports node:child_process', () => {
    const importers = imports.filter(({ target }) => target === 'node:child_process').map(({ file }) => file);
    expect(importers).toEqual(['engine/media/process.ts']);
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

  it('only service/config/settings.ts reads environment variables', () => {
    const readers = production.filter((file) => /process\.env(?!\['DISABLE_SYSTEM_FONTS_LOAD'\] =)/u.test(text(file)));
    expect(readers).toEqual(['service/config/settings.ts']);
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
