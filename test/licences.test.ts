// Every package that an installation carries is under a licence we have agreed to, by the lock file.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const LOCK = path.resolve(import.meta.dirname, '../package-lock.json');

/** SPDX names. LGPL and MPL bind the library itself, which is used unchanged; see THIRD_PARTY_NOTICES.md for FFmpeg. */
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

/** Packages whose manifest names no licence, and where it is found instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  // LICENSE of the package.
  '@shinyoshiaki/jspack': 'BSD-3-Clause',
};

interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly license?: string;
}

const { packages } = JSON.parse(readFileSync(LOCK, 'utf8')) as { packages: Record<string, Locked> };
const installed = Object.entries(packages).filter(
  ([place, { dev, devOptional }]) => place !== '' && !dev && !devOptional,
);
const nameOf = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** `A AND B` needs both, `A OR B` one. */
function isAllowed(expression: string): boolean {
  const plain = expression.replaceAll(/[()]/gu, '');
  return plain.split(' OR ').some((choice) => choice.split(' AND ').every((name) => ALLOWED.has(name)));
}

it('every package of an installation has a licence from the list', () => {
  expect(installed.length).toBeGreaterThan(100);
  const refused = installed
    .map(([place, { license }]) => [nameOf(place), license ?? ELSEWHERE[nameOf(place)] ?? 'none'] as const)
    .filter(([, licence]) => !isAllowed(licence));
  expect(refused).toEqual([]);
});

it('what is said of packages without one in their manifest is still needed', () => {
  const silent = new Set(installed.filter(([, { license }]) => license === undefined).map(([place]) => nameOf(place)));
  expect(Object.keys(ELSEWHERE).filter((name) => !silent.has(name))).toEqual([]);
});
