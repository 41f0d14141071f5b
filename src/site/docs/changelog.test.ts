import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { changelogFor } from './changelog.ts';

const SOURCE = `# Changelog

For everyone.

## [Unreleased]

### Before you upgrade

- **Stop all servers.** Then
  go on.

### Added

- **Callers: styles.** New
  presets.
- Operators: a setting.
- A page.

## [0.2.0] - 2026-11-16

### Fixed

- Operators: an alert.
- Callers and operators: renders are faster.

## 0.1.0

First.

### For callers

- Everything.

### For operators

- Everything else.
`;

describe('the changelog', () => {
  it('for callers has neither settings nor upgrades', () => {
    expect(changelogFor('callers', SOURCE).split('\n').slice(4).join('\n')).toBe(`## Unreleased

### Added

- **Styles.** New
  presets.
- A page.

## 0.2.0, 2026-11-16

### Fixed

- Renders are faster.

## 0.1.0

- Everything.
`);
  });

  it('for operators has only what concerns them', () => {
    expect(changelogFor('operators', SOURCE).split('\n').slice(4).join('\n')).toBe(`## Unreleased

### Before you upgrade

- **Stop all servers.** Then
  go on.

### Added

- A setting.

## 0.2.0, 2026-11-16

### Fixed

- An alert.
- Renders are faster.

## 0.1.0

- Everything else.
`);
  });

  it('of this repository tells callers nothing about settings and metrics of the server', () => {
    const text = changelogFor('callers', readFileSync('CHANGELOG.md', 'utf8'));
    expect(text).not.toMatch(/Prometheus|seccomp|Kubernetes|storybar_\w+_total/u);
    expect(text).toContain('`style` on a request or an overlay');
  });
});
