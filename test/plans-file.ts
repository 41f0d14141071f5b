// Writes a plans file for a test. Every limit that the test doesn't set is too high to matter.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const HIGH_LIMITS = {
  monthlyPriceCents: 0,
  credits: 1_000_000,
  requestsPerMinute: 1_000_000,
  concurrentRenders: 1_000,
};

/** Returns the path. The server sorts plans by price, so prices rise in the given order. */
export function plansFile(
  plans: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  marketplace: Readonly<Record<string, string>> = {},
): string {
  const list = Object.entries(plans).map(([name, overrides], index) => ({
    name,
    ...HIGH_LIMITS,
    monthlyPriceCents: index * 100,
    ...overrides,
  }));
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'storybar-plans-')), 'plans.json');
  writeFileSync(file, JSON.stringify({ plans: list, marketplace }));
  return file;
}
