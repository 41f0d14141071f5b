// `npm run bench:server`: photos per second of the whole service beside a hand-written server, and the processor time
// that the service adds to a library call. Machines differ and are shared, so compare the ratios rather than the
// numbers.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { renderOverlay } from '../../src/engine/index.ts';
import { type Library, startLibrary } from '../image/library.ts';
import { makePhotos, type Photo } from '../image/pictures.ts';
import { median } from '../image/rounds.ts';
import { CAPTIONS } from '../image/scene.ts';
import { fixed, formatTable } from '../image/table.ts';
import { multipart } from '../prove/client.ts';
import { quantile } from '../prove/figures.ts';
import { cpuOf } from '../prove/processes.ts';
import { Subject } from '../prove/subject.ts';
import { type ClientsResult, type Endpoint, runClients } from './clients.ts';
import { startPeer } from './peer.ts';

const CLIENT_COUNTS = [1, 2, 8, 32] as const;
/** Both servers are measured in turns, this many times. */
const TURNS = 3;
const DEFAULT_SECONDS = 4;
const WARM_UP_SECONDS = 5;
const TARGET_SPEED_UP = 4;
const TARGET_CPU_SHARE = 0.85;
const TARGET_TAIL = 3;
/** The number of clients for the target of the tail latency. */
const TAIL_CLIENTS = 8;

interface Turn {
  readonly ours: ClientsResult;
  readonly peer: ClientsResult;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { seconds: { type: 'string' } } });
  const seconds = Number(values.seconds ?? DEFAULT_SECONDS);
  if (!(seconds > 0)) throw new Error(`--seconds must be a number above 0; got ${values.seconds}`);
  const { story, source } = await makePhotos(undefined);
  console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}; photo: ${source}\n`);
  const directory = await mkdtemp(path.join(tmpdir(), 'storybar-bench-server-'));
  try {
    await compare(story, directory, seconds);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function compare(photo: Photo, directory: string, seconds: number): Promise<void> {
  const overlayFile = path.join(directory, 'overlay.png');
  const photoFile = path.join(directory, 'photo.jpg');
  await writeFile(overlayFile, (await renderOverlay(photo, CAPTIONS)).bytes);
  await writeFile(photoFile, photo.jpeg);
  const body = multipart({ overlays: JSON.stringify(CAPTIONS), asset: photo.jpeg });
  const peer = await startPeer(overlayFile);
  const subject = await Subject.start({ settings: { STORYBAR_LOG_LEVEL: 'warn' } });
  const library = startLibrary(photoFile);
  try {
    const ours = { url: subject.target.url, key: subject.key };
    const theirs = { url: peer.url, key: '' };
    for (const endpoint of [ours, theirs]) await runClients(endpoint, body, 2, WARM_UP_SECONDS);
    await renderFor(library, WARM_UP_SECONDS);
    const all = await measureThroughput({ ours, theirs }, body, seconds);
    const share = await measureCpuShare(subject, library, body, seconds);
    printTargets(all, share);
  } finally {
    library.close();
    await subject.stop();
    await peer.close();
  }
}

async function measureThroughput(
  { ours, theirs }: { ours: Endpoint; theirs: Endpoint },
  body: Buffer,
  seconds: number,
): Promise<Map<number, Turn[]>> {
  const all = new Map<number, Turn[]>();
  const rows = [
    ['clients', 'photos/s', 'median ms', 'p99 ms', 'hand-written photos/s', 'median ms', 'p99 ms', 'ratio'],
  ];
  for (const count of CLIENT_COUNTS) {
    const turns: Turn[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const peer = await runClients(theirs, body, count, seconds);
      turns.push({ peer, ours: await runClients(ours, body, count, seconds) });
    }
    all.set(count, turns);
    const figures = (of: keyof Turn): string[] => [
      fixed(median(turns.map((turn) => turn[of].perSecond)), 1),
      fixed(median(turns.map((turn) => quantile(turn[of].times, 0.5))), 0),
      fixed(median(turns.map((turn) => quantile(turn[of].times, 0.99))), 0),
    ];
    rows.push([String(count), ...figures('ours'), ...figures('peer'), `${fixed(speedUp(turns), 2)}x`]);
  }
  console.log(`${formatTable(rows)}\n`);
  return all;
}

/** Returns the median over the turns of both servers' ratio within one turn. */
function speedUp(turns: readonly Turn[]): number {
  return median(turns.map(({ ours, peer }) => ours.perSecond / peer.perSecond));
}

/**
 * Returns the processor time per photo of the library, divided by that of server and workers together, measured in
 * turns.
 */
async function measureCpuShare(subject: Subject, library: Library, body: Buffer, seconds: number): Promise<number> {
  const rows = [['processor time per photo, ms', 'library', 'server', 'workers', 'library / (server + workers)']];
  const shares: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const alone = await cpuPerPhoto([library.pid], () => renderFor(library, seconds));
    let photos = 0;
    const pids = subject.workers();
    const before = cpuMsOf(pids);
    const server = await cpuPerPhoto([subject.pid], async () => {
      const { times } = await runClients({ url: subject.target.url, key: subject.key }, body, 2, seconds);
      photos = times.length;
      return photos;
    });
    if (String(subject.workers()) !== String(pids)) {
      rows.push([`turn ${turn + 1}`, '', '', '', 'a worker was replaced']);
      continue;
    }
    const workers = (cpuMsOf(pids) - before) / photos;
    const share = alone / (server + workers);
    shares.push(share);
    rows.push([`turn ${turn + 1}`, fixed(alone, 1), fixed(server, 1), fixed(workers, 1), fixed(share, 2)]);
  }
  console.log(`${formatTable(rows)}\n`);
  return median(shares);
}

async function renderFor(library: Library, seconds: number): Promise<number> {
  const stopAt = performance.now() + seconds * 1_000;
  let photos = 0;
  for (; performance.now() < stopAt; photos += 1) await library.render();
  return photos;
}

async function cpuPerPhoto(pids: readonly number[], renderAll: () => Promise<number>): Promise<number> {
  const before = cpuMsOf(pids);
  const photos = await renderAll();
  return (cpuMsOf(pids) - before) / photos;
}

function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (cpuOf(pid)?.cpuMs ?? 0), 0);
}

function printTargets(all: ReadonlyMap<number, readonly Turn[]>, share: number): void {
  const tail = median(
    (all.get(TAIL_CLIENTS) ?? []).map(({ ours }) => quantile(ours.times, 0.99) / quantile(ours.times, 0.5)),
  );
  const rows = [['target', 'goal', 'measured', '']];
  for (const [count, turns] of all) {
    const ratio = speedUp(turns);
    rows.push([
      `photos per second relative to the hand-written server, ${count} at a time`,
      `>= ${TARGET_SPEED_UP}x`,
      `${fixed(ratio, 2)}x`,
      verdict(ratio >= TARGET_SPEED_UP),
    ]);
  }
  rows.push(
    [
      `p99 relative to the median, ${TAIL_CLIENTS} at a time`,
      `< ${TARGET_TAIL}x`,
      `${fixed(tail, 2)}x`,
      verdict(tail < TARGET_TAIL),
    ],
    [
      'library / (server + workers), processor time',
      `>= ${TARGET_CPU_SHARE}`,
      fixed(share, 2),
      verdict(share >= TARGET_CPU_SHARE),
    ],
  );
  console.log(formatTable(rows));
}

function verdict(isMet: boolean): string {
  return isMet ? 'met' : 'missed';
}

await main();
