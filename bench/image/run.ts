// `npm run bench:image`: our image pipeline beside its peers, in one run on the same pictures, and the targets it is held
// to. Machines differ and are shared: read the ratios, not the milliseconds.

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import type { Absent, Contender } from './contender.ts';
import { jimpPeer } from './jimp-peer.ts';
import { measureOverlays } from './overlay-only.ts';
import { formatPhoto, measurePhoto, type PhotoResult } from './photos.ts';
import { makeTestImages, type Picture } from './pictures.ts';
import { pillow } from './pillow-peer.ts';
import { ffmpeg, imageMagick } from './program-peers.ts';
import { best, median, medianDifference, type Series } from './rounds.ts';
import { measureOverhead, type Overhead } from './server-overhead.ts';
import { sharpPeers } from './sharp-peers.ts';
import { fixed, formatTable } from './table.ts';
import { formatTargets } from './targets.ts';

const HELP = `bench:image [--rounds N] [--quick] [--photo FILE] [--keep DIRECTORY]
  --rounds   rounds for the large picture (7), three times as many for the small one; slow peers take part in fewer
  --quick    3 rounds, sharp as the only peer
  --photo    a photo of 12 megapixels or more; without it, a generated picture
  --keep     write everybody's pictures there, to look at
`;
const DEFAULT_ROUNDS = 7;
const QUICK_ROUNDS = 3;
/** A moment of somebody else's work is long beside a small picture. */
const SMALL_ROUNDS_PER_ROUND = 3;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      photo: { type: 'string' },
      keep: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return console.log(HELP);
  const rounds = Number(values.rounds ?? (values.quick ? QUICK_ROUNDS : DEFAULT_ROUNDS));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number from 1');
  // Repeating one picture must measure the work, not a cache of its result.
  sharp.cache(false);
  const stops: (() => void)[] = [];
  try {
    await compareAll(values, rounds, (stop) => stops.push(stop));
  } finally {
    for (const stop of stops) stop();
  }
}

interface Choices {
  readonly quick: boolean;
  readonly photo?: string | undefined;
  readonly keep?: string | undefined;
}

async function compareAll(choices: Choices, rounds: number, onExit: (stop: () => void) => void): Promise<void> {
  const started = performance.now();
  const { source, story, large } = await makeTestImages(choices.photo);
  const candidates = choices.quick ? [] : [jimpPeer, await imageMagick(), await pillow(onExit), await ffmpeg()];
  const peers = [...sharpPeers, ...candidates.filter((candidate) => 'prepare' in candidate)];
  console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}; pictures: ${source}\n`);

  const photos: { name: string; result: PhotoResult }[] = [];
  for (const [picture, times] of [
    [story, SMALL_ROUNDS_PER_ROUND],
    [large, 1],
  ] as const) {
    const result = await measurePhoto(picture, { peers, rounds: rounds * times, keep: choices.keep });
    photos.push({ name: picture.name, result });
    console.log(`${formatPhoto(picture, result)}\n`);
  }
  printAbsent(candidates);

  const overlays = (await measureOverlays(rounds)).map((series) => {
    return { name: series.name, ms: median(series.times), row: [...timeRow(series), fixed(series.last / 1e3, 1)] };
  });
  const header = ['3 bars alone, transparent 1080x1920', 'best ms', 'median ms', 'kB'];
  console.log(`${formatTable([header, ...overlays.map(({ row }) => row)])}\n`);

  const serverOverheadMs = await reportServer(story, rounds);
  console.log(formatTargets({ photos, overlays, serverOverheadMs }));
  console.log(`\n${fixed((performance.now() - started) / 1e3, 0)} s in all`);
}

function printAbsent(candidates: readonly (Contender | Absent)[]): void {
  const absent = candidates.filter((candidate) => 'absent' in candidate);
  for (const { name, absent: reason } of absent) console.log(`skipped ${name}: ${reason}`);
  if (absent.length > 0) console.log('');
}

function timeRow({ name, times }: Series<unknown>): string[] {
  return [name, fixed(best(times), 1), fixed(median(times), 1)];
}

async function reportServer(picture: Picture, rounds: number): Promise<number | undefined> {
  const measured: Overhead | Absent = await measureOverhead(picture, rounds);
  if ('absent' in measured) {
    console.log(`skipped ${measured.name}: ${measured.absent}\n`);
    return undefined;
  }
  const { http, library, renderMs, steps } = measured;
  const overhead = medianDifference(http, library);
  const rows = [
    [`server, 3 bars on ${picture.name}`, 'best ms', 'median ms'],
    timeRow(http),
    timeRow(library),
    ['x-render-duration-ms', '', fixed(renderMs, 1)],
    ['overhead (round trip - library call)', fixed(best(http.times) - best(library.times), 1), fixed(overhead, 1)],
  ];
  console.log(`${formatTable(rows)}\nserver-timing, ms: ${steps}\n`);
  return overhead;
}

await main();
