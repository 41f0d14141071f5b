import { readFileSync } from 'node:fs';
import path from 'node:path';

const CHANGELOG = path.resolve(import.meta.dirname, '../CHANGELOG.md');
/** Matches `## [1.2.0] - 2026-01-31`. The first release has neither brackets nor a date. */
const HEADING = /^## \[?(?<name>[^\]\s]+)\]?(?: - (?<date>\d{4}-\d{2}-\d{2}))?\n/u;

interface ChangelogSection {
  /** A version, or `Unreleased`. */
  readonly name: string;
  readonly date: string | undefined;
  readonly text: string;
}

function readChangelog(): string {
  return readFileSync(CHANGELOG, 'utf8');
}

/** Returns the text under `## [version] - date`, or undefined when the changelog has no such section or it is empty. */
export function changelogSection(version: string, changelog = readChangelog()): string | undefined {
  const section = sectionsOf(changelog).find(({ name, date }) => name === version && date !== undefined);
  return section?.text || undefined;
}

interface Versions {
  readonly version: string;
  readonly lockVersion: string;
  /** The image that `deploy/kustomization.yaml` starts. */
  readonly imageTag: string;
  readonly tag?: string;
}

/** Explains why a version can't be released, based on version numbers and the changelog. */
export function versionFaults(
  { version, lockVersion, imageTag, tag }: Versions,
  changelog = readChangelog(),
): string[] {
  const faults: string[] = [];
  if (tag !== undefined && tag !== `v${version}`)
    faults.push(`The tag is ${tag}, but package.json has version ${version}.`);
  if (lockVersion !== version)
    faults.push(`package-lock.json has version ${lockVersion}, but package.json has ${version}.`);
  if (imageTag !== version)
    faults.push(`deploy/kustomization.yaml starts the image ${imageTag}, but package.json has version ${version}.`);
  const sections = sectionsOf(changelog);
  const [latest, previous] = sections.filter(({ name }) => name !== 'Unreleased');
  if (sections.some(({ name, text }) => name === 'Unreleased' && text !== '')) {
    faults.push(
      `CHANGELOG.md lists changes under [Unreleased], and package.json still has version ${version}. ` +
        'Raise the version and move the changes under "## [<version>] - <date>".',
    );
  } else if (latest?.name !== version || latest.date === undefined || latest.text === '') {
    faults.push(`The newest section of CHANGELOG.md must be "## [${version}] - <date>" and list changes.`);
  } else if (previous !== undefined && !isGreater(version, previous.name)) {
    faults.push(`Version ${version} must be greater than ${previous.name}, the version before it in CHANGELOG.md.`);
  }
  return faults;
}

function sectionsOf(changelog: string): ChangelogSection[] {
  return changelog.split(/^(?=## )/mu).flatMap((part) => {
    const { name, date } = HEADING.exec(part)?.groups ?? {};
    return name === undefined ? [] : [{ name, date, text: part.replace(HEADING, '').trim() }];
  });
}

function isGreater(version: string, other: string): boolean {
  return version.localeCompare(other, 'en', { numeric: true }) > 0;
}
