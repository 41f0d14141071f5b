// Requests that cost the client almost nothing and workers much: small files that announce large images, and layouts of
// many cues. Meanwhile another account renders small overlays.

import { deflateSync } from 'node:zlib';
import { must } from '../../../src/shared/must.ts';
import { png } from '../attacks.ts';
import { multipart } from '../client.ts';
import { CAPTION } from '../invariants.ts';
import { closedLoad, latency, type LoadResult, served } from '../load.ts';
import type { Fixture, Scenario, World } from '../world.ts';

/** An image of this side has 50 megapixels, the maximum. */
const SIDE = 7_071;
const MAX_MS_PER_FILE = 300;
const FILES = 20;
/** As many layouts as an account may have open. */
const OPEN_LAYOUTS = 8;
const CUES = 500;
/**
 * A small render beside layouts waits at most for one earlier render, so its time stays far below that of one layout.
 */
const MAX_SLOWDOWN = 5;

export const cheapRequests: Scenario = {
  name: 'cheap-requests',
  about: `files of a kilobyte that announce 50 megapixels; ${OPEN_LAYOUTS} open layouts of ${CUES} cues beside small renders`,
  run: async (world) => {
    const settings = { STORYBAR_LOG_LEVEL: 'warn', STORYBAR_WORKERS: '2' };
    await world.withServer({ accounts: 2, settings }, async (fixture) => {
      await announceMuch(world, fixture);
      await layOutMuch(world, fixture);
    });
  },
};

async function announceMuch(world: World, { request, subject }: Fixture): Promise<void> {
  const files = [Buffer.alloc(900, 0x5a), deflateSync(Buffer.alloc(1_000_000)), deflateSync(fewRows())];
  const times: number[] = [];
  for (let count = 0; count < FILES; count += 1) {
    const asset = png(SIDE, SIDE, must(files[count % files.length], 'a file'));
    const { ms, code } = await request({ key: subject.key, body: multipart({ asset, text: CAPTION }) });
    if (code !== 'asset_undecodable') world.violation(`a kilobyte that announces 50 megapixels: ${code}`);
    times.push(ms);
  }
  const median = must(times.toSorted((a, b) => a - b)[FILES >> 1], 'the median');
  const target = { target: `<= ${MAX_MS_PER_FILE} ms`, met: median <= MAX_MS_PER_FILE };
  world.figure('kilobyte that announces 50 megapixels, median', `${Math.round(median)} ms`, target);
}

/** Returns four rows of the image with more than one color. */
function fewRows(): Buffer {
  return Buffer.from(Array.from({ length: (SIDE * 3 + 1) * 4 }, (_, at) => (at % 997 === 0 ? 0 : 7)));
}

async function layOutMuch(world: World, fixture: Fixture): Promise<void> {
  const { subject, request } = fixture;
  const [greedy, modest] = [subject.account(0).key, subject.account(1).key];
  const body = multipart({ text: CAPTION, width: '300', height: '300' });
  const render = async (): Promise<LoadResult> =>
    await closedLoad(1, world.choose(4, 20), async () => await request({ key: modest, body }));
  const alone = await render();
  const stop = new AbortController();
  const layouts = Array.from(
    { length: OPEN_LAYOUTS },
    async () => await layOutUntil(stop.signal, subject.target.url, greedy),
  );
  const beside = await render();
  stop.abort();
  const count = (await Promise.all(layouts)).reduce((sum, each) => sum + each, 0);
  world.figure('layouts meanwhile', String(count));
  world.figure('small render alone, median', latency(served(alone.responses), 0.5));
  world.figure('small render beside layouts, median', latency(served(beside.responses), 0.5));
  const slowdown = medianOf(beside) / medianOf(alone);
  const target = { target: `<= ${MAX_SLOWDOWN}`, met: slowdown <= MAX_SLOWDOWN };
  world.figure('small render beside layouts, times as long', slowdown.toFixed(1), target);
}

/** Returns how many layouts got a response. */
async function layOutUntil(signal: AbortSignal, url: string, key: string): Promise<number> {
  let answered = 0;
  while (!signal.aborted) {
    const response = await fetch(`${url}/v1/layout`, {
      method: 'POST',
      // A connection that the client keeps open would look like one that the server forgot.
      headers: { 'content-type': 'application/json', 'x-api-key': key, connection: 'close' },
      body: JSON.stringify({ width: 1_080, height: 1_920, duration: CUES, captions: subtitles() }),
    });
    await response.arrayBuffer();
    answered += 1;
  }
  return answered;
}

function subtitles(): string {
  return Array.from({ length: CUES }, (_, index) => {
    const two = (value: number): string => String(value).padStart(2, '0');
    const time = `00:${two(Math.trunc(index / 60))}:${two(index % 60)}`;
    return `${index + 1}\n${time},000 --> ${time},900\n${CAPTION} ${index} lorem ipsum dolor sit amet\n`;
  }).join('\n');
}

function medianOf({ responses }: LoadResult): number {
  const times = served(responses).map(({ ms }) => ms);
  return must(times.toSorted((a, b) => a - b)[times.length >> 1], 'a served render');
}
