// `npm run bench:tricks [-- --rounds 25] [-- --only <part of a name>]`: measures what each trick of the product is
// worth. The product with and without it runs in turns, so that other load on the machine affects both.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makePhotos } from '../image/pictures.ts';
import { fixed, formatTable } from '../image/table.ts';
import { type Contender, type Figures, type Setup, startRenders, startServer } from './contenders.ts';
import { type Trick, TRICKS } from './tricks.ts';
import { makeVariant } from './variant.ts';

const DEFAULT_ROUNDS = 25;
const WARM_UPS = 4;
/** The flags of `npm start` and of main/local-workers.ts. */
const FLAGS = { server: ['--initial-old-space-size=128'], worker: ['--initial-old-space-size=64'] } as const;

const { values } = parseArgs({ options: { rounds: { type: 'string' }, only: { type: 'string', multiple: true } } });
const rounds = Number(values.rounds ?? DEFAULT_ROUNDS);
const only = values.only ?? [''];
const directory = mkdtempSync(path.join(tmpdir(), 'storybar-tricks-'));
try {
  const assets = await makeAssets();
  const rows: string[][] = [['trick', 'workload', 'measure', 'with', 'without', 'saves']];
  for (const trick of TRICKS.filter(({ name }) => only.some((part) => name.includes(part)))) {
    const row = await measure(trick, assets);
    console.log(row.join(' | '));
    rows.push(row);
  }
  console.log(
    `\n${formatTable(rows)}\nCPU: ms per render or request, lower quartile of ${rounds} rounds. Memory: MB at the peak.`,
  );
  console.log('Steps of a render: their shortest ms; what is saved is in relation to the whole render.');
} finally {
  rmSync(directory, { recursive: true, force: true });
}

interface Assets {
  readonly story: string;
  readonly large: string;
}

async function makeAssets(): Promise<Assets> {
  const { story, large } = await makePhotos(undefined);
  const fileOf = (name: string, bytes: Buffer): string => {
    const file = path.join(directory, name);
    writeFileSync(file, bytes);
    return file;
  };
  return { story: fileOf('story.jpg', story.jpeg), large: fileOf('large.jpg', large.jpeg) };
}

async function measure({ name, workload, measure: kind, without }: Trick, { story, large }: Assets): Promise<string[]> {
  const asset = workload === 'large-photo' ? large : story;
  const isServer = workload === 'uploads' || workload === 'replays';
  const start = async (side: string, isWith: boolean): Promise<Contender> => {
    const patches = isWith || without === 'flags' ? [] : without;
    const flags = isWith || without !== 'flags' ? FLAGS[isServer ? 'server' : 'worker'] : [];
    const folder = makeVariant(path.join(directory, name.replaceAll(' ', '-'), side), patches);
    const setup: Setup = { folder, flags, workload, asset };
    return isServer ? await startServer(setup) : await startRenders(setup);
  };
  const sides: Contender[] = [];
  try {
    const first = await start('with', true);
    sides.push(first);
    const second = await start('without', false);
    sides.push(second);
    const [on, off] = await takeTurns([first, second]);
    if (typeof kind !== 'string') return [name, workload, kind.join('+'), ...compareSteps(on, off, kind)];
    const of = ({ cpuMs, peakMb }: Figures): number => (kind === 'CPU' ? cpuMs : peakMb);
    return [name, workload, kind, ...compare(lowerQuartile(on.map(of)), lowerQuartile(off.map(of)))];
  } finally {
    for (const side of sides) side.close();
  }
}

function compare(on: number, off: number, whole = off): string[] {
  return [fixed(on, 2), fixed(off, 2), `${fixed(((off - on) / whole) * 100, 1)} %`];
}

/** Compares the shortest times, in relation to the shortest render without the trick. */
function compareSteps(on: readonly Figures[], off: readonly Figures[], steps: readonly string[]): string[] {
  const shortest = (side: readonly Figures[], step: string): number =>
    Math.min(...side.flatMap(({ renders }) => renders.map((render) => render[step] ?? Number.NaN)));
  const sum = (side: readonly Figures[]): number => steps.reduce((ms, step) => ms + shortest(side, step), 0);
  return compare(sum(on), sum(off), shortest(off, 'total'));
}

/**
 * The lower quartile is less affected by other load than the median and, unlike the shortest time, includes its share
 * of garbage collection.
 */
function lowerQuartile(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 4)] ?? Number.NaN;
}

async function takeTurns([first, second]: readonly [Contender, Contender]): Promise<[Figures[], Figures[]]> {
  const figures: [Figures[], Figures[]] = [[], []];
  for (let round = 0; round < WARM_UPS + rounds; round += 1) {
    const turns = [
      [first, figures[0]],
      [second, figures[1]],
    ] as const;
    for (const [contender, list] of round % 2 === 0 ? turns : turns.toReversed()) {
      const result = await contender.run();
      if (round >= WARM_UPS) list.push(result);
    }
  }
  return figures;
}
