// Compares the same render on a local worker process and on a worker behind the queue, in turns, and measures the
// transfers alone.

import { randomUUID } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { receiveHashed, sendHashed } from '../../src/service/dispatch/remote/shared/hashed-transfer.ts';
import { HASH_TRAILER } from '../../src/service/dispatch/remote/shared/wire.ts';
import { type Renderer, withLease } from '../../src/service/dispatch/renderer.ts';
import { anyone } from '../../test/dispatch/lease-requests.ts';
import type { Asset } from '../../src/engine/media/asset.ts';
import { startPools } from '../../test/dispatch/pools.ts';
import { until } from '../../test/running-server.ts';
import { startWorker } from '../../test/running-worker.ts';
import { interleave, median, medianDifference, seriesNamed } from '../image/rounds.ts';
import { fixed, formatTable } from '../image/table.ts';
import type { Fleet } from './fleet.ts';
import { renderOnce } from './load.ts';

const ROUNDS = 25;

export interface OverheadResult {
  /** The overhead of a transparent overlay: nothing to fetch, a small file back. */
  readonly barsMs: number;
  /** The overhead of a photo, without the time for its transfers. */
  readonly photoMs: number;
}

export async function measureOverhead(natsUrl: string, fleet: Fleet, photo: Asset): Promise<OverheadResult> {
  const pools = startPools();
  const local = pools.renderer;
  const worker = await startWorker(natsUrl);
  try {
    await fleet.waitForSlots(1);
    await until(() => local.status().images.ready > 0);
    const bars = await compare(local, fleet.apiServer, undefined, fleet.directory);
    const whole = await compare(local, fleet.apiServer, photo, fleet.directory);
    const outputBytes = await outputSize(local, photo, fleet.directory);
    const assetBytes = (await stat(photo.path)).size;
    const transferMs =
      (await transferTime(assetBytes, fleet.directory)) + (await transferTime(outputBytes, fleet.directory));
    console.log(
      `${formatTable([
        ['local and remote, median ms', 'local', 'remote', 'difference', 'of which transfers'],
        ['transparent overlay, 1080x1920', fixed(bars.local, 1), fixed(bars.remote, 1), fixed(bars.difference, 1), '-'],
        [
          `photo 1080x1920, ${megabytes(assetBytes)} in, ${megabytes(outputBytes)} out`,
          fixed(whole.local, 1),
          fixed(whole.remote, 1),
          fixed(whole.difference, 1),
          fixed(transferMs, 1),
        ],
      ])}\n`,
    );
    return { barsMs: bars.difference, photoMs: whole.difference - transferMs };
  } finally {
    await worker.stop();
    await pools.stop();
  }
}

async function compare(local: Renderer, remote: Renderer, asset: Asset | undefined, directory: string) {
  const runner = (name: string, renderer: Renderer) => ({
    name,
    run: () => renderOnce(renderer, { asset, directory }),
  });
  const all = await interleave([runner('local', local), runner('remote', remote)], ROUNDS);
  const [localRuns, remoteRuns] = [seriesNamed(all, 'local'), seriesNamed(all, 'remote')];
  return {
    local: median(localRuns.times),
    remote: median(remoteRuns.times),
    difference: medianDifference(remoteRuns, localRuns),
  };
}

async function outputSize(renderer: Renderer, asset: Asset, directory: string): Promise<number> {
  const { composeRecipe } = await import('../../src/engine/render/compose.ts');
  const { LIMITS, OVERLAYS } = await import('./work.ts');
  const output = path.join(directory, randomUUID());
  await withLease(renderer, anyone(), async (lease) => {
    const probe = await lease.probe(asset, LIMITS);
    return await lease.render({ recipe: composeRecipe(probe, OVERLAYS, LIMITS), asset, output });
  });
  const { size } = await stat(output);
  await rm(output);
  return size;
}

/**
 * Transfers from a file through a connection into a file, hashed on both sides: the minimum for any verified transfer.
 */
async function transferTime(bytes: number, directory: string): Promise<number> {
  const from = path.join(directory, randomUUID());
  await writeFile(from, Buffer.alloc(bytes, randomUUID()));
  const server = createServer((_request, response) => {
    response.writeHead(200, { trailer: HASH_TRAILER });
    sendHashed(from, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const to = path.join(directory, randomUUID());
    const started = performance.now();
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request({ port }, resolve).on('error', reject).end();
    });
    await receiveHashed(response, to, bytes);
    times.push(performance.now() - started);
    await rm(to);
  }
  await rm(from);
  await new Promise((resolve) => server.close(resolve));
  return median(times);
}

function megabytes(bytes: number): string {
  return `${fixed(bytes / 1e6, 2)} MB`;
}
