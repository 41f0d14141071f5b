// Without PostgreSQL, NATS, HAProxy, OpenStack Swift, a browser or the sample media, the tests that need them are skipped.
// TESTS_REQUIRE names those that must be there, so that a run in CI can't pass by skipping.

import { findPostgres } from './postgres-server.ts';
import { hasHaproxy } from './running-haproxy.ts';
import { hasNats } from './running-nats.ts';
import { hasSwift } from './running-s3.ts';
import { hasSharedMedia } from './shared-media.ts';

export const CHECKS: Readonly<Record<string, () => boolean | Promise<boolean>>> = {
  postgres: () => findPostgres() !== undefined || (process.env['TESTS_POSTGRES_URL'] ?? '') !== '',
  nats: () => hasNats,
  haproxy: () => hasHaproxy,
  swift: () => hasSwift,
  browser: async () => {
    // Loaded only here because it's slow.
    const { launchBrowser } = await import('./browser/browser.ts');
    const found = await launchBrowser();
    if ('reason' in found) return false;
    await found.browser.close();
    return true;
  },
  media: () => hasSharedMedia,
};

/** Throws when something that is required is missing or unknown. `required` is a comma-separated list. */
export async function assertRequiredPrograms(required: string, checks = CHECKS): Promise<void> {
  const missing: string[] = [];
  for (const name of required.split(',').map((item) => item.trim())) {
    if (name === '') continue;
    const check = checks[name];
    if (check === undefined) {
      throw new Error(`TESTS_REQUIRE knows ${Object.keys(checks).join(', ')}; got "${name}"`);
    }
    if (!(await check())) missing.push(name);
  }
  if (missing.length > 0) throw new Error(`TESTS_REQUIRE: not available: ${missing.join(', ')}`);
}
