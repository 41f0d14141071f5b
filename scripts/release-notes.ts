// Prints the changelog section of the current version, for the release page.

import packageJson from '../package.json' with { type: 'json' };
import { changelogSection } from './changelog-section.ts';

const notes = changelogSection(packageJson.version);
if (notes === undefined) {
  console.error(`CHANGELOG.md has no section "## [${packageJson.version}] - <date>".`);
  process.exitCode = 1;
} else {
  console.log(notes);
}
