// Renders with one variant of the library. Arguments: its folder, a workload, and a file with the asset.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const CAPTIONS = [
  { text: 'Golden hour, no filter needed', position: 20 },
  { text: 'Three hours of waiting for this', position: 50 },
  { text: 'Would you have stayed as well?', position: 80 },
];
const LONG = Array.from({ length: 4 }, (_, index) => ({
  text: 'Golden hour, no filter needed. '.repeat(5),
  position: index * 30,
  style: { preset: 'box', size: 2 },
}));

const [, , folder, workload, file] = process.argv;
const library = await import(pathToFileURL(path.join(folder, 'dist/engine/index.js')).href);
const asset = await readFile(file);

const WORKLOADS = {
  photo: { times: 4, render: async () => await library.renderImage(asset, CAPTIONS) },
  'large-photo': { times: 2, render: async () => await library.renderImage(asset, CAPTIONS) },
  jpeg: { times: 12, render: async () => await library.renderImage(asset, CAPTIONS, { format: 'jpeg' }) },
  overlay: { times: 12, render: async () => await library.renderOverlay({ width: 1080, height: 1920 }, CAPTIONS) },
  'large-overlay': { times: 1, render: async () => await library.renderOverlay({ width: 4096, height: 8100 }, LONG) },
};
const { times, render } = WORKLOADS[workload];

async function run() {
  const before = process.cpuUsage();
  const renders = [];
  for (let time = 0; time < times; time += 1) {
    const start = performance.now();
    const { timings } = await render();
    renders.push({ ...timings, total: performance.now() - start });
  }
  const { user, system } = process.cpuUsage(before);
  process.send({ cpuMs: (user + system) / 1_000 / times, peakMb: process.resourceUsage().maxRSS / 1_024, renders });
}

process.on('message', () => void run());
process.send('ready');
