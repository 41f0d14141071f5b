import { describe, expect, it } from 'vitest';
import { changelogSection, versionFaults } from '../scripts/changelog-section.ts';

const CHANGELOG = `# Changelog

## [Unreleased]

- soon

## [1.2.0] - 2026-01-02

### Added

- a thing

## [1.1.0] - 2025-12-01

## 1.0.0

- the first release
`;
const WITHOUT_UNRELEASED = CHANGELOG.replace('- soon\n\n', '');

it('the release notes of a version are its section of the changelog', () => {
  expect(changelogSection('1.2.0', CHANGELOG)).toBe('### Added\n\n- a thing');
});

it('an empty section, an unknown version and a similar version have no release notes', () => {
  expect(changelogSection('1.1.0', CHANGELOG)).toBeUndefined();
  expect(changelogSection('1.3.0', CHANGELOG)).toBeUndefined();
  expect(changelogSection('1x2x0', CHANGELOG)).toBeUndefined();
});

describe('the check of a version before its release', () => {
  const faultsOf = (
    version: string,
    changelog: string,
    rest: { lockVersion?: string; imageTag?: string; tag?: string } = {},
  ): string[] => versionFaults({ version, lockVersion: version, imageTag: version, ...rest }, changelog);

  it('the release check finds nothing wrong with the version of the newest dated section when nothing is unreleased', () => {
    expect(faultsOf('1.2.0', WITHOUT_UNRELEASED, { tag: 'v1.2.0' })).toEqual([]);
  });

  it('the release check reports unreleased changes, another tag and other versions in the lock file and manifests together', () => {
    expect(faultsOf('1.2.0', CHANGELOG, { tag: 'v1.3.0', lockVersion: '1.1.0', imageTag: '1.0.0' })).toEqual([
      'The tag is v1.3.0, but package.json has version 1.2.0.',
      'package-lock.json has version 1.1.0, but package.json has 1.2.0.',
      'deploy/kustomization.yaml starts the image 1.0.0, but package.json has version 1.2.0.',
      expect.stringMatching(/^CHANGELOG\.md lists changes under \[Unreleased\].* version 1\.2\.0\. Raise the version/u),
    ]);
  });

  it.each([
    ['has no section', '1.3.0', WITHOUT_UNRELEASED],
    ['has a section without a date', '1.2.0', WITHOUT_UNRELEASED.replace(' - 2026-01-02', '')],
    ['has an empty section', '1.2.0', WITHOUT_UNRELEASED.replace('### Added\n\n- a thing\n', '')],
  ])('the release check reports a version that %s', (_name, version, changelog) => {
    expect(faultsOf(version, changelog)).toEqual([
      `The newest section of CHANGELOG.md must be "## [${version}] - <date>" and list changes.`,
    ]);
  });

  it('the release check reports a version that is not greater than the one before it', () => {
    const changelog = WITHOUT_UNRELEASED.replace('[1.1.0]', '[1.10.0]');
    expect(faultsOf('1.2.0', changelog)).toEqual([
      'Version 1.2.0 must be greater than 1.10.0, the version before it in CHANGELOG.md.',
    ]);
  });
});
