// The child process of library.ts. Each message triggers one render, and a message reports that it is done.

import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { renderImage } from '../../src/engine/index.ts';
import { CAPTIONS } from './scene.ts';

const [, , file] = process.argv;
if (file === undefined) throw new Error('usage: library-process.ts <photo>');
const asset = await readFile(file);
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
