// `npm run bench:scale`: the cost of rendering on workers on other machines, and how it scales. Everything runs on this
// machine over loopback and needs nats-server. The ratios matter, not the milliseconds.

import { cpus } from 'node:os';
import path from 'node:path';
import { createAsset } from '../../src/engine/media/asset.ts';
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { hasNats, startNats } from '../../test/running-nats.ts';
import { makePhotos } from '../image/pictures.ts';
import { fixed, formatTable } from '../image/table.ts';
import { measureCosts, type Request } from './costs.ts';
import { measureDispatch } from './dispatch.ts';
import { startFleet } from './fleet.ts';
import { measureOverhead } from './overhead.ts';
import { measureRealWorkers } from './real-workers.ts';
import { measureRedelivery } from './redelivery.ts';

const HELP = `bench:scale [--seconds N] [--render-ms N] [--clip FILE]
  --seconds     seconds of load per row (default 4)
  --render-ms   duration of a simulated render (default 250)
  --clip        a video whose CPU time is measured too
`;
const CAPTION = 'Golden hour, no filter needed';
const MIN_EFFICIENCY = 0.9;
const AT_WORKERS = 16;
const MAX_OVERHEAD_MS = 15;
const MAX_REDELIVERY_MS = 6_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '4' },
      'render-ms': { type: 'string', default: '250' },
      clip: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return console.log(HELP);
  if (!hasNats) return console.log('skipped: nats-server is not installed');
  const [seconds, renderMs] = [Number(values.seconds), Number(values['render-ms'])];
  console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}\n`);
  const nats = await startNats();
  const fleet = await startFleet(nats.url);
  try {
    const { story, large } = await makePhotos(undefined);
    const photo = createAsset({
      path: path.join(fleet.directory, 'photo'),
      format: 'jpeg',
      bytes: story.jpeg.length,
    });
    await writeFile(photo.path, story.jpeg);
    const overhead = await measureOverhead(nats.url, fleet, photo);
    const dispatch = await measureDispatch(fleet, {
      title: `simulated renders of ${renderMs} ms, no asset`,
      renderMs,
      outputBytes: 1_000,
      asset: undefined,
      seconds,
    });
    await measureDispatch(fleet, {
      title: 'the same with a photo in and 2 MB out',
      renderMs,
      outputBytes: 2_000_000,
      asset: photo,
      seconds,
    });
    await measureRealWorkers(nats.url, fleet, photo, seconds);
    await measureCosts(nats, [
      { name: 'transparent overlay, 1080x1920', times: 60, fields: { width: '1080', height: '1920', text: CAPTION } },
      { name: `photo 1080x1920, ${megabytes(story.jpeg)}`, times: 60, fields: { asset: story.jpeg, text: CAPTION } },
      { name: `photo 4000x3000, ${megabytes(large.jpeg)}`, times: 15, fields: { asset: large.jpeg, text: CAPTION } },
      ...(values.clip === undefined ? [] : [await clipRequest(values.clip)]),
    ]);
    const redelivery = await measureRedelivery(fleet);
    const efficiency = dispatch.find(({ workers }) => workers === AT_WORKERS)?.efficiency ?? Number.NaN;
    console.log(
      formatTable([
        ['target', 'limit', 'measured', ''],
        [
          `efficiency with ${AT_WORKERS} simulated workers`,
          `>= ${MIN_EFFICIENCY * 100} %`,
          `${fixed(efficiency * 100, 1)} %`,
          verdict(efficiency >= MIN_EFFICIENCY),
        ],
        overheadRow('remote overhead, transparent overlay', overhead.barsMs),
        overheadRow('remote overhead, photo, without transfers', overhead.photoMs),
        redeliveryRow('output after a killed worker', redelivery.killedMs),
        redeliveryRow('output after a frozen worker', redelivery.frozenMs),
      ]),
    );
  } finally {
    await fleet.stop();
    await nats.stop();
  }
}

async function clipRequest(file: string): Promise<Request> {
  const asset = await readFile(file);
  return { name: `${path.basename(file)}, ${megabytes(asset)}`, times: 3, fields: { asset, text: CAPTION } };
}

function megabytes(bytes: Buffer): string {
  return `${fixed(bytes.length / 1e6, 1)} MB`;
}

function overheadRow(name: string, ms: number): string[] {
  return [name, `<= ${MAX_OVERHEAD_MS} ms`, `${fixed(ms, 1)} ms`, verdict(ms <= MAX_OVERHEAD_MS)];
}

function redeliveryRow(name: string, ms: number): string[] {
  return [name, `<= ${MAX_REDELIVERY_MS} ms`, `${fixed(ms, 0)} ms`, verdict(ms <= MAX_REDELIVERY_MS)];
}

function verdict(isMet: boolean): string {
  return isMet ? 'met' : 'missed';
}

await main();
