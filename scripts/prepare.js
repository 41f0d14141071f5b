// Builds a clone after `npm ci`. A production install (`npm ci --omit=dev`) has no compiler: it uses what is built already,
// or says how to build. What it never uses is removed from node_modules.

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
