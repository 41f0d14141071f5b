// The program behind library.ts: every message is one call of the library, answered when it is done.

import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { renderImage } from '../../src/index.ts';
import { CAPTIONS } from './scene.ts';

const [, , photo] = process.argv;
if (photo === undefined) throw new Error('which photo?');
const asset = await readFile(photo);
sharp.cache(false);
process.on('message', () => {
  renderImage(asset, CAPTIONS).then(
    () => process.send?.('done'),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
