import { expect, it } from 'vitest';
import { assertRequiredPrograms } from './required-programs.ts';

const CHECKS = { present: () => true, absent: () => false, gone: async () => false };

it('lets a run start when everything that STORYBAR_TESTS_REQUIRE names is available', async () => {
  await expect(assertRequiredPrograms('', CHECKS)).resolves.toBeUndefined();
  await expect(assertRequiredPrograms('present', CHECKS)).resolves.toBeUndefined();
});

it('fails a run that would skip tests which STORYBAR_TESTS_REQUIRE names, and lists all that is missing', async () => {
  await expect(assertRequiredPrograms('present, absent,gone', CHECKS)).rejects.toThrow('not available: absent, gone');
});

it('fails a run when STORYBAR_TESTS_REQUIRE names something unknown', async () => {
  await expect(assertRequiredPrograms('presnt', CHECKS)).rejects.toThrow('got "presnt"');
});
