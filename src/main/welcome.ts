// What `storybar serve` prints when it has started.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from './version.ts';

const SAMPLE_PHOTO = fileURLToPath(new URL('../../examples/photo.jpg', import.meta.url));

export function welcome(url: string, newKey: string | undefined): string {
  const lines = ['', `Storybar ${VERSION} listens on ${url}`, ''];
  if (newKey === undefined) {
    lines.push('Create a key with: npx storybar keys create --plan free', '');
    return lines.join('\n');
  }
  lines.push(
    'This is a new installation. Here is your first API key; it is shown only once:',
    '',
    `  ${newKey}`,
    '',
    'Try it:',
    '',
    `  curl ${url}/v1/overlay \\`,
    `    -H 'x-api-key: ${newKey}' \\`,
    `    -F asset=@${samplePhoto()} \\`,
    `    -F 'text=Golden hour, no filter needed 🌅' \\`,
    '    -o captioned.png',
    '',
  );
  return lines.join('\n');
}

function samplePhoto(): string {
  const relative = path.relative(process.cwd(), SAMPLE_PHOTO);
  return existsSync(relative) && !relative.startsWith('..') ? relative : SAMPLE_PHOTO;
}
