import { describe, expect, it } from 'vitest';
import { launchBrowser } from './browser/browser.ts';
import { findPostgres } from './postgres-server.ts';
import { assertRequiredPrograms, CHECKS } from './required-programs.ts';
import { hasHaproxy } from './running-haproxy.ts';
import { hasNats } from './running-nats.ts';
import { hasSwift } from './running-s3.ts';
import { hasSharedMedia } from './shared-media.ts';

const FAKE_CHECKS = { present: () => true, absent: () => false, gone: async () => false };

it('the check lets a run start when everything that TESTS_REQUIRE names is available', async () => {
  await expect(assertRequiredPrograms('', FAKE_CHECKS)).resolves.toBeUndefined();
  await expect(assertRequiredPrograms('present', FAKE_CHECKS)).resolves.toBeUndefined();
});

it('the check fails a run that would skip tests which TESTS_REQUIRE names, and lists all that is missing', async () => {
  await expect(assertRequiredPrograms('present, absent,gone', FAKE_CHECKS)).rejects.toThrow(
    'not available: absent, gone',
  );
});

it('the check fails a run when TESTS_REQUIRE names something unknown', async () => {
  await expect(assertRequiredPrograms('presnt', FAKE_CHECKS)).rejects.toThrow('got "presnt"');
});

describe('TESTS_REQUIRE', () => {
  /** The checks by which tests are skipped. */
  const available: Readonly<Record<string, () => boolean | Promise<boolean>>> = {
    postgres: () => findPostgres() !== undefined || (process.env['TESTS_POSTGRES_URL'] ?? '') !== '',
    nats: () => hasNats,
    haproxy: () => hasHaproxy,
    swift: () => hasSwift,
    media: () => hasSharedMedia,
    browser: async () => {
      const found = await launchBrowser();
      if ('browser' in found) await found.browser.close();
      return 'browser' in found;
    },
  };

  it('knows everything that tests skip without', () => {
    expect(Object.keys(CHECKS).toSorted()).toEqual(Object.keys(available).toSorted());
  });

  it.each(Object.keys(available))('lets a run with %s start exactly if its tests would run', async (name) => {
    const isAvailable = await available[name]?.();
    const outcome = await assertRequiredPrograms(name).then(
      () => 'starts',
      (error: Error) => error.message,
    );
    expect(outcome).toBe(isAvailable ? 'starts' : `TESTS_REQUIRE: not available: ${name}`);
  });
});
