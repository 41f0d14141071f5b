// Renders the example images of README.md. Run with `npx tsx scripts/readme-pictures.ts` when the look changes.

import sharp from 'sharp';
import { type Captions, renderImage } from '../src/engine/index.ts';

const TILE = { width: 360, height: 640, gap: 20 };

const EXAMPLES: readonly Captions[] = [
  'Golden hour, no filter needed 🌅',
  [
    { text: 'غروب الشمس على البحيرة ✨', position: 25 },
    { text: '夕焼けがきれいだったので、ちょっと寄り道', position: 50 },
    { text: 'झील किनारे एक और शाम', position: 75 },
  ],
  [{ text: 'Day 12 🚐', position: 0 }, { text: 'Found the spot everybody told us about. Nobody is here but us 🤫' }],
];

const tiles = await Promise.all(
  EXAMPLES.map(async (captions, index) => {
    const { bytes } = await renderImage('examples/photo.jpg', captions);
    const input = await sharp(bytes).resize(TILE.width, TILE.height).png().toBuffer();
    return { input, left: index * (TILE.width + TILE.gap), top: 0 };
  }),
);
const width = EXAMPLES.length * (TILE.width + TILE.gap) - TILE.gap;
await sharp({ create: { width, height: TILE.height, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } })
  .composite(tiles)
  .webp({ quality: 88 })
  .toFile('docs/images/examples.webp');
