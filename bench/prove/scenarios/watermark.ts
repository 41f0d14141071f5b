// Free renders with the trick that removes a mark in a corner: enlarge the canvas, render for free, and crop. The
// result must differ from the paid one everywhere: in every tile of the image and in the rows of every line.

import sharp from 'sharp';
import { must } from '../../../src/shared/must.ts';
import { FORM_TYPE, multipart } from '../client.ts';
import type { Fixture, Scenario } from '../world.ts';

const IMAGE = { width: 480, height: 640 };
/** Wider than the longest distance between strokes on the canvases below. */
const TILE = 80;
const PADDINGS = [
  { left: 0, top: 0, right: 96, bottom: 128 },
  { left: 200, top: 0, right: 0, bottom: 0 },
  { left: 0, top: 333, right: 0, bottom: 7 },
  { left: 240, top: 320, right: 240, bottom: 320 },
];
const FORMATS = ['png', 'jpeg', 'webp'] as const;

export const watermark: Scenario = {
  name: 'watermark',
  parallel: true,
  about: 'free renders on a padded canvas, cropped and compared with the paid ones',
  run: async (world) => {
    await world.withServer({}, async (fixture) => {
      const { key, testKey } = must(fixture.subject.accounts[0], 'the account');
      let [tiles, clean, renders] = [0, 0, 0];
      for (const padding of PADDINGS) {
        for (const format of FORMATS) {
          const form = multipart(await attackOf(padding, format));
          const paid = await cropped(await send(fixture, '/v1/overlay', form, key), padding);
          const ways = [await send(fixture, '/v1/overlay', form, testKey)];
          // A visitor has only a few renders per minute.
          if (format === 'png') ways.push(await send(fixture, '/playground/render', form));
          for (const free of ways) {
            const marked = markedTiles(paid, await cropped(free, padding));
            tiles += marked.length;
            clean += marked.filter((isMarked) => !isMarked).length;
            renders += 1;
          }
        }
      }
      world.figure('padded and cropped', `${renders} renders, ${tiles} tiles`);
      world.none('tiles without a watermark', clean);
    });
  },
};

type Padding = (typeof PADDINGS)[number];

async function attackOf(
  padding: Padding,
  format: (typeof FORMATS)[number],
): Promise<Readonly<Record<string, string | Buffer>>> {
  const asset = await sharp({ create: { ...IMAGE, channels: 3, background: '#7aa2c4' } })
    .extend({ ...padding, background: '#fff' })
    .jpeg({ quality: 90 })
    .toBuffer();
  const height = IMAGE.height + padding.top + padding.bottom;
  const overlays = [0.3, 0.7].map((share) => ({
    text: 'Two lines of text\nfor free',
    position: (100 * (padding.top + share * IMAGE.height)) / height,
    style: { size: 0.5 },
  }));
  return { asset, overlays: JSON.stringify(overlays), format };
}

async function send({ subject, journal }: Fixture, path: string, body: Buffer, key?: string): Promise<Buffer> {
  const headers = { 'content-type': FORM_TYPE, ...(key !== undefined && { 'x-api-key': key }) };
  const response = await fetch(subject.target.url + path, { method: 'POST', body: Uint8Array.from(body), headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (key !== undefined) journal.record(response.status, Object.fromEntries(response.headers), bytes);
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${bytes.toString().slice(0, 300)}`);
  return bytes;
}

async function cropped(bytes: Buffer, { left, top }: Padding): Promise<Buffer> {
  return await sharp(bytes)
    .extract({ left, top, ...IMAGE })
    .removeAlpha()
    .raw()
    .toBuffer();
}

/** The coding noise of JPEG and WebP is smaller. */
const NOISE = 24;

/** Returns whether each tile differs. */
function markedTiles(one: Buffer, other: Buffer): boolean[] {
  const columns = Math.floor(IMAGE.width / TILE);
  const tiles = Array.from({ length: columns * Math.floor(IMAGE.height / TILE) }, () => false);
  for (let at = 0; at < one.length; at += 1) {
    if (Math.abs((one[at] ?? 0) - (other[at] ?? 0)) <= NOISE) continue;
    const pixel = Math.floor(at / 3);
    const [x, y] = [pixel % IMAGE.width, Math.floor(pixel / IMAGE.width)];
    const tile = Math.floor(y / TILE) * columns + Math.floor(x / TILE);
    if (x < columns * TILE && tile < tiles.length) tiles[tile] = true;
  }
  return tiles;
}
