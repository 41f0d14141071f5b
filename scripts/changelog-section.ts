import { readFileSync } from 'node:fs';
import path from 'node:path';

const CHANGELOG = path.resolve(import.meta.dirname, '../CHANGELOG.md');

/** The text under `## [version] - date`, undefined when the changelog has no such section or it is empty. */
export function changelogSection(version: string, changelog = readFileSync(CHANGELOG, 'utf8')): string | undefined {
  const sections = changelog.split(/^(?=## \[)/mu);
  const heading = new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}\\n`, 'u');
  const section = sections.find((text) => heading.test(text));
  return section?.replace(heading, '').trim() || undefined;
}
