import { expect, it } from 'vitest';
import { changelogSection } from '../scripts/changelog-section.ts';

const CHANGELOG = `# Changelog

## [Unreleased]

- soon

## [1.2.0] - 2026-01-02

### Added

- a thing

## [1.1.0] - 2025-12-01
`;

it('returns the section of a released version as release notes', () => {
  expect(changelogSection('1.2.0', CHANGELOG)).toBe('### Added\n\n- a thing');
});

it('returns no release notes for an empty section, an unknown version or a similar version', () => {
  expect(changelogSection('1.1.0', CHANGELOG)).toBeUndefined();
  expect(changelogSection('1.3.0', CHANGELOG)).toBeUndefined();
  expect(changelogSection('1x2x0', CHANGELOG)).toBeUndefined();
});
