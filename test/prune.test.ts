// scripts/prune.js, which makes a production install smaller.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PATTERN_FILES } from '../src/engine/raster/syllable-patterns.ts';
import { EMOJI, FAMILIES } from '../src/engine/raster/catalogue.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'storybar-prune-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function addPackage(name: string, dependencies: readonly string[] = [], files: readonly string[] = []): void {
  const folder = path.join(root, name === '' ? '' : 'node_modules', name);
  const manifest = { name, dependencies: Object.fromEntries(dependencies.map((dependency) => [dependency, '1'])) };
  for (const file of ['package.json', ...files]) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), file === 'package.json' ? JSON.stringify(manifest) : '');
  }
}

function prune(libc: string): void {
  execFileSync(process.execPath, [path.resolve(import.meta.dirname, '../scripts/prune.js'), libc], { cwd: root });
}

const has = (file: string): boolean => existsSync(path.join(root, 'node_modules', file));

it('pruning removes packages that only WebRTC needs, and keeps those that others need too', () => {
  addPackage('', ['node-av', 'fastify']);
  addPackage('node-av', ['werift', 'unzipper']);
  addPackage('werift', ['mediabunny', 'shared']);
  addPackage('mediabunny');
  addPackage('unzipper');
  addPackage('shared');
  addPackage('fastify', ['shared']);
  addPackage('fastify/node_modules/own');
  prune('glibc');
  expect(readdirSync(path.join(root, 'node_modules')).toSorted()).toEqual(['fastify', 'node-av', 'shared']);
  expect(has('fastify/node_modules/own')).toBe(false);
});

it.each([
  ['glibc', '@libsql/linux-x64-gnu'],
  ['musl', '@libsql/linux-x64-musl'],
])('keeps only the binaries for %s', (libc, kept) => {
  const binaries = ['@libsql/linux-x64-gnu', '@libsql/linux-x64-musl'];
  addPackage('', binaries);
  for (const name of binaries) addPackage(name, [], ['index.node']);
  prune(libc);
  expect(binaries.filter((name) => has(`${name}/index.node`))).toEqual([kept]);
});

it('pruning removes source maps, TypeScript and tests, and keeps code and licenses', () => {
  addPackage('', ['a']);
  const kept = ['index.js', 'lib/test/index.js', 'LICENSE.d.ts', 'lib/LICENSE'];
  addPackage(
    'a',
    [],
    [...kept, 'index.js.map', 'index.d.ts', 'index.d.mts', 'src/index.ts', 'test/a.js', 'tests/b.js', 'README.md'],
  );
  prune('glibc');
  const rest = readdirSync(path.join(root, 'node_modules/a'), { recursive: true, withFileTypes: true });
  expect(rest.filter((entry) => entry.isFile()).length).toBe(kept.length + 1);
  expect(kept.filter((file) => !has(`a/${file}`))).toEqual([]);
});

it('pruning keeps every font file that captions and pages use, and removes other weights and styles', () => {
  const fonts = [...FAMILIES, EMOJI].flatMap(({ packageName, files, bold }) => {
    const used = 'single' in files ? [files.single] : [files.slice('0'), files.slice('latin'), 'unicode.json'];
    if (typeof bold === 'object') used.push(bold.single);
    return used.map((file) => ({ packageName, file }));
  });
  const site = { packageName: 'inter-ui', file: 'variable-latin/InterVariable-subset.woff2' };
  const needed = [...fonts, site];
  const packages = new Set(needed.map(({ packageName }) => packageName));
  addPackage('', [...packages]);
  const unused = [
    '900Black/Black.ttf',
    '400Regular/a.ttf.png',
    'web/Inter-Black.woff2',
    'index.css',
    'files/a-700-italic.woff2',
  ];
  for (const name of packages) {
    addPackage(
      name,
      [],
      [...needed.filter(({ packageName }) => packageName === name).map(({ file }) => file), ...unused],
    );
  }
  prune('glibc');
  expect(needed.filter(({ packageName, file }) => !has(`${packageName}/${file}`))).toEqual([]);
  expect([...packages].flatMap((name) => unused.filter((file) => has(`${name}/${file}`)))).toEqual([]);
});

it('pruning keeps the patterns of the languages that captions are cut in, and no others', () => {
  const used = [...new Set(PATTERN_FILES.values())].map((file) => `patterns/${file}.js`);
  const code = ['index.js', 'hyphen.js', 'LICENSE'];
  const unused = ['patterns/cs.js', 'patterns/de-1901.js', 'patterns/id.js', 'de/index.js', 'CHANGELOG'];
  addPackage('', ['hyphen']);
  addPackage('hyphen', [], [...code, ...used, ...unused]);
  prune('glibc');
  expect([...code, ...used].filter((file) => !has(`hyphen/${file}`))).toEqual([]);
  expect(unused.filter((file) => has(`hyphen/${file}`))).toEqual([]);
});
