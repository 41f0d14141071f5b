// `npm run bench:image`: compares our image pipeline with its peers on the same photos, and with its targets. Machines
// differ and are shared, so compare the ratios rather than the milliseconds.

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import type { Contender, SkippedPeer } from './contender.ts';
import { jimpPeer } from './jimp-peer.ts';
import { reportJpegOutput } from './jpeg-output.ts';
import { measureOverlays } from './overlay-only.ts';
import { formatPhoto, measurePhoto, type PhotoResult } from './photos.ts';
import { makePhotos, type Photo } from './pictures.ts';
import { pillow } from './pillow-peer.ts';
import { ffmpeg, imageMagick } from './program-peers.ts';
import { best, median, medianDifference, type Series } from './rounds.ts';
import { measureOverhead, type Overhead } from './server-overhead.ts';
import { sharpPeers } from './sharp-peers.ts';
import { fixed, formatTable } from './table.ts';
import { reportStyles } from './styles.ts';
import { formatTargets } from './targets.ts';
import { reportTurnedJpeg } from './turned-jpeg.ts';

const HELP = `bench:image [--rounds N] [--quick] [--photo FILE] [--keep DIRECTORY]
  --rounds   rounds for the large photo (default 7); the small one gets three times as many, slow peers fewer
  --quick    3 rounds, with sharp as the only peer
  --photo    a photo of 12 megapixels or more (default: a generated one)
  --keep     write the output of each contender to this directory
`;
const DEFAULT_ROUNDS = 7;
const QUICK_ROUNDS = 3;
/** Noise from other processes matters more for short measurements. */
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
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error(`--rounds must be a whole number of at least 1; got ${values.rounds}`);
  // Otherwise, repeated renders of one photo would measure sharp's cache.
  sharp.cache(false);
  const stops: (() => void)[] = [];
  try {
    await compareAll(values, rounds, (stop) => stops.push(stop));
  } finally {
    for (const stop of stops) stop();
  }
}

interface BenchOptions {
  readonly quick: boolean;
  readonly photo?: string | undefined;
  readonly keep?: string | undefined;
}

async function compareAll(options: BenchOptions, rounds: number, onExit: (stop: () => void) => void): Promise<void> {
  const started = performance.now();
  const { source, story, large } = await makePhotos(options.photo);
  const candidates = options.quick ? [] : [jimpPeer, await imageMagick(), await pillow(onExit), await ffmpeg()];
  const peers = [...sharpPeers, ...candidates.filter((candidate) => 'prepare' in candidate)];
  console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}; photos: ${source}\n`);

  const photos: { name: string; result: PhotoResult }[] = [];
  for (const [photo, times] of [
    [story, SMALL_ROUNDS_PER_ROUND],
    [large, 1],
  ] as const) {
    const result = await measurePhoto(photo, { peers, rounds: rounds * times, keep: options.keep });
    photos.push({ name: photo.name, result });
    console.log(`${formatPhoto(photo, result)}\n`);
  }
  printSkipped(candidates);
  console.log(`${await reportJpegOutput(story, rounds * SMALL_ROUNDS_PER_ROUND)}\n`);
  console.log(`${await reportJpegOutput(large, rounds)}\n`);
  console.log(`${await reportTurnedJpeg(story, rounds * SMALL_ROUNDS_PER_ROUND)}\n`);
  console.log(`${await reportTurnedJpeg(large, rounds)}\n`);
  for (const format of ['png', 'jpeg'] as const) {
    console.log(`${await reportStyles(story, rounds * SMALL_ROUNDS_PER_ROUND, format)}\n`);
    console.log(`${await reportStyles(large, rounds, format)}\n`);
  }

  const overlays = (await measureOverlays(rounds)).map((series) => {
    return { name: series.name, ms: median(series.times), row: [...timeRow(series), fixed(series.last / 1e3, 1)] };
  });
  const header = ['3 bars, transparent 1080x1920', 'best ms', 'median ms', 'kB'];
  console.log(`${formatTable([header, ...overlays.map(({ row }) => row)])}\n`);

  const serverOverheadMs = await reportServer(story, rounds);
  console.log(formatTargets({ photos, overlays, serverOverheadMs }));
  console.log(`\n${fixed((performance.now() - started) / 1e3, 0)} s in total`);
}

function printSkipped(candidates: readonly (Contender | SkippedPeer)[]): void {
  const skipped = candidates.filter((candidate) => 'reason' in candidate);
  for (const { name, reason } of skipped) console.log(`skipped ${name}: ${reason}`);
  if (skipped.length > 0) console.log('');
}

function timeRow({ name, times }: Series<unknown>): string[] {
  return [name, fixed(best(times), 1), fixed(median(times), 1)];
}

async function reportServer(photo: Photo, rounds: number): Promise<number | undefined> {
  const measured: Overhead | SkippedPeer = await measureOverhead(photo, rounds);
  if ('reason' in measured) {
    console.log(`skipped ${measured.name}: ${measured.reason}\n`);
    return undefined;
  }
  const { http, library, renderMs, steps } = measured;
  const overhead = medianDifference(http, library);
  const rows = [
    [`server, 3 bars on ${photo.name}`, 'best ms', 'median ms'],
    timeRow(http),
    timeRow(library),
    ['x-render-duration-ms', '', fixed(renderMs, 1)],
    ['overhead (round trip - library call)', fixed(best(http.times) - best(library.times), 1), fixed(overhead, 1)],
  ];
  console.log(`${formatTable(rows)}\nserver-timing (median ms): ${steps}\n`);
  return overhead;
}

await main();
