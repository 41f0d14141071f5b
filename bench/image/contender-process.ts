// The child process of apart.ts: prepares one contender and then runs it once per message.

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import type { Timings } from '../../src/engine/render/timing.ts';
import type { ApartResult, ApartScene } from './apart.ts';
import type { Contender } from './contender.ts';
import { jimpPeer } from './jimp-peer.ts';
import { nativeEncoder } from './native-peer.ts';
import { floor, ourPipeline } from './own.ts';
import { timed } from './rounds.ts';
import { sharpPeers } from './sharp-peers.ts';

let timings: Timings | undefined;
const CONTENDERS: readonly Contender[] = [
  ourPipeline((steps) => (timings = steps)),
  floor,
  nativeEncoder,
  ...sharpPeers,
  jimpPeer,
];

const [name, text] = process.argv.slice(2);
const contender = CONTENDERS.find((candidate) => candidate.name === name);
if (!contender || text === undefined) throw new Error(`there is no contender ${name}`);
const { file, ...scene } = JSON.parse(text) as ApartScene;
// Otherwise, repeated renders of one photo would measure sharp's cache.
sharp.cache(false);
const run = await contender.prepare({ ...scene, photo: { ...scene.photo, jpeg: await readFile(file) } });
const output = path.join(scene.directory, `${contender.name.replaceAll(/\W+/gu, '-')}.png`);

async function measure(): Promise<ApartResult> {
  const { ms, cpuMs, result } = await timed({ name: '', run });
  await writeFile(output, result);
  return { ms, cpuMs, output, ...(timings && { timings }) };
}

process.on('message', () => {
  measure().then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.send?.('ready');
