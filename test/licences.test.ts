// Checks, from the lock file, that every installed package has an approved license.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const LOCK = path.resolve(import.meta.dirname, '../package-lock.json');

/** SPDX identifiers. LGPL and MPL packages are used unmodified; see THIRD_PARTY_NOTICES.md for FFmpeg. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'LGPL-3.0-or-later',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'OFL-1.1',
  'Python-2.0',
  'Unlicense',
]);

/** Packages without a license in their manifest. */
const LICENSE_FILES: Readonly<Record<string, string>> = {
  // The license is from the LICENSE file of the package.
  '@shinyoshiaki/jspack': 'BSD-3-Clause',
};

interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly license?: string;
}

const { packages } = JSON.parse(readFileSync(LOCK, 'utf8')) as { packages: Record<string, LockedPackage> };
const installed = Object.entries(packages).filter(
  ([place, { dev, devOptional }]) => place !== '' && !dev && !devOptional,
);
const nameOf = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** `A AND B` requires both to be approved, `A OR B` only one. */
function isAllowed(expression: string): boolean {
  const plain = expression.replaceAll(/[()]/gu, '');
  return plain.split(' OR ').some((choice) => choice.split(' AND ').every((name) => ALLOWED.has(name)));
}

it('every installed package has an approved license', () => {
  expect(installed.length).toBeGreaterThan(100);
  const refused = installed
    .map(([place, { license }]) => [nameOf(place), license ?? LICENSE_FILES[nameOf(place)] ?? 'none'] as const)
    .filter(([, license]) => !isAllowed(license));
  expect(refused).toEqual([]);
});

it('every license that was looked up by hand is still missing from the manifest', () => {
  const withoutLicense = new Set(
    installed.filter(([, { license }]) => license === undefined).map(([place]) => nameOf(place)),
  );
  expect(Object.keys(LICENSE_FILES).filter((name) => !withoutLicense.has(name))).toEqual([]);
});
