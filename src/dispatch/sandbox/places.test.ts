import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bubblewrapArguments } from './bubblewrap.ts';
import { findPlaces } from './places.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'storybar-places-')));
  for (const folder of ['node_modules/storybar/dist', 'node_modules/sharp', 'data']) {
    mkdirSync(path.join(root, folder), { recursive: true });
  }
  writeFileSync(path.join(root, 'node_modules/storybar/package.json'), '{}');
  writeFileSync(path.join(root, '.env'), 'SECRET=1');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const find = (dataDirectory: string) =>
  findPlaces({
    packageRoot: path.join(root, 'node_modules/storybar'),
    dataDirectory: path.join(root, dataDirectory),
    prlimit: '/bin/sh',
  });

describe.runIf(process.platform === 'linux')('what a worker sees', () => {
  it('is the program, its libraries, our code and every node_modules above it; not the folder around', () => {
    const { readOnly, masked } = find('data');
    const own = readOnly.filter((place) => place.startsWith(root)).map((place) => path.relative(root, place));
    expect(own.toSorted()).toEqual([
      'node_modules',
      'node_modules/storybar/dist',
      'node_modules/storybar/package.json',
    ]);
    expect(readOnly).toEqual(expect.arrayContaining([process.execPath, '/bin/sh', '/usr/lib']));
    for (const hidden of ['/', '/usr', '/etc', '/home', '/proc']) expect(readOnly).not.toContain(hidden);
    expect(masked).toEqual([]);
  });

  it('does not include the data directory, even when that lies inside', () => {
    mkdirSync(path.join(root, 'node_modules/storybar/dist/data'));
    const places = find('node_modules/storybar/dist/data');
    const data = path.join(root, 'node_modules/storybar/dist/data');
    expect(places.masked).toEqual([data]);
    const args = bubblewrapArguments(places, { outside: '/outside', inside: '/cell' });
    expect(args.indexOf('--tmpfs')).toBeGreaterThan(args.lastIndexOf('--ro-bind'));
    expect(args[args.indexOf('--tmpfs') + 1]).toBe(data);
  });
});
