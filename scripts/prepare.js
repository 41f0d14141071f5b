// Builds a clone after `npm ci`. A production install (`npm ci --omit=dev`) has no compiler, so it uses an existing
// build, or explains how to build. Packages that it never uses are removed from node_modules.

import { execSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import './link-bin.js';
import { prune } from './prune.js';

if (existsSync('node_modules/.bin/tsc')) {
  execSync('npm run build', { stdio: 'inherit' });
} else {
  prune();
  if (!existsSync('dist/cli/cli.js')) {
    console.warn(
      'Storybar is not built, because development dependencies are not installed. Run:\n' +
        '  npm ci\n' +
        '  npm prune --omit=dev --ignore-scripts && node scripts/prune.js',
    );
  }
}
