// A plans file for a test: every limit generous but those it is about.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const GENEROUS = { monthlyPriceCents: 0, credits: 1_000_000, requestsPerMinute: 1_000_000, concurrentRenders: 1_000 };

/** Returns the path; plans are sorted by price, so each gets a higher one than the one before. */
export function plansFile(
  plans: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  marketplace: Readonly<Record<string, string>> = {},
): string {
  const list = Object.entries(plans).map(([name, changes], index) => ({
    name,
    ...GENEROUS,
    monthlyPriceCents: index * 100,
    ...changes,
  }));
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'storybar-plans-')), 'plans.json');
  writeFileSync(file, JSON.stringify({ plans: list, marketplace }));
  return file;
}
