import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bubblewrapArguments } from './bubblewrap.ts';
import { findVisiblePaths } from './visible-paths.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'storybar-paths-')));
  for (const folder of ['node_modules/storybar/dist', 'node_modules/sharp', 'data']) {
    mkdirSync(path.join(root, folder), { recursive: true });
  }
  writeFileSync(path.join(root, 'node_modules/storybar/package.json'), '{}');
  writeFileSync(path.join(root, '.env'), 'SECRET=1');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const find = (dataDirectory: string) =>
  findVisiblePaths({
    packageRoot: path.join(root, 'node_modules/storybar'),
    dataDirectory: path.join(root, dataDirectory),
    prlimit: '/bin/sh',
  });

describe.runIf(process.platform === 'linux')('the paths a worker sees', () => {
  it('the paths a worker sees include the program, its libraries, our code and every node_modules above it, but not the package directory', () => {
    const { readOnly, masked } = find('data');
    const own = readOnly.filter((file) => file.startsWith(root)).map((file) => path.relative(root, file));
    expect(own.toSorted()).toEqual([
      'node_modules',
      'node_modules/storybar/dist',
      'node_modules/storybar/package.json',
    ]);
    expect(readOnly).toEqual(expect.arrayContaining([process.execPath, '/bin/sh', '/usr/lib']));
    for (const hidden of ['/', '/usr', '/etc', '/home', '/proc']) expect(readOnly).not.toContain(hidden);
    expect(masked).toEqual([]);
  });

  it('the paths a worker sees do not include the data directory, even when it is inside a visible one', () => {
    mkdirSync(path.join(root, 'node_modules/storybar/dist/data'));
    const paths = find('node_modules/storybar/dist/data');
    const data = path.join(root, 'node_modules/storybar/dist/data');
    expect(paths.masked).toEqual([data]);
    const args = bubblewrapArguments(paths, { outside: '/outside', inside: '/inside' });
    expect(args.indexOf('--tmpfs')).toBeGreaterThan(args.lastIndexOf('--ro-bind'));
    expect(args[args.indexOf('--tmpfs') + 1]).toBe(data);
  });
});
