// Makes `npx storybar` work inside a clone, because npm links the commands of dependencies but not the project's own.

import { mkdirSync, rmSync, symlinkSync } from 'node:fs';

const link = 'node_modules/.bin/storybar';
if (process.platform !== 'win32') {
  mkdirSync('node_modules/.bin', { recursive: true });
  rmSync(link, { force: true });
  symlinkSync('../../bin/storybar.js', link);
}
