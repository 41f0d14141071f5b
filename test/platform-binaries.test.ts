import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { type LockedPackages, missingBinaries } from '../scripts/platform-binaries.ts';

it('every native dependency has binaries for Linux, macOS and Windows', () => {
  const lock = readFileSync(path.resolve(import.meta.dirname, '../package-lock.json'), 'utf8');
  expect(missingBinaries((JSON.parse(lock) as { packages: LockedPackages }).packages)).toEqual([]);
});

it('a native dependency without a binary for a platform is named with the platform', () => {
  const linux = { os: ['linux'], cpu: ['x64', 'arm64'] };
  const packages = {
    '': { dependencies: { codec: '1', plain: '1' } },
    'node_modules/codec': { optionalDependencies: { 'codec-linux': '1', 'codec-mac': '1' } },
    'node_modules/codec-linux': linux,
    'node_modules/codec-mac': { os: ['darwin'] },
    'node_modules/plain': {},
  };
  expect(missingBinaries(packages)).toEqual(['codec has no binary for win32-x64.']);
});
