// A rolling update under load: every API server and every worker is replaced, one after the other, behind the load
// balancer configuration in deploy/. No client notices.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { freePort } from '../free-port.ts';
import { noisyJpeg } from '../pictures.ts';
import { plansFile } from '../plans-file.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { type RunningDatabase, serverDatabase } from '../running-database.ts';
import { hasHaproxy, type RunningHaproxy, startHaproxy } from '../running-haproxy.ts';
import { hasNats, type RunningNats, startNats } from '../running-nats.ts';
import { form, post, type RunningServer, startServer, until } from '../running-server.ts';
import { type RunningWorker, startWorker } from '../running-worker.ts';
import { plainClip } from '../video/plain-clip.ts';

const postgresUrl = inject('postgresUrl');
const missing = [
  ...(hasHaproxy ? [] : ['haproxy is not installed (apt-get install haproxy)']),
  ...(hasNats ? [] : ['nats-server is not installed (apt-get install nats-server)']),
  ...(postgresUrl === '' ? [NO_POSTGRES] : []),
];
if (missing.length > 0) console.warn(`skipped: ${missing.join('; ')}`);

/** Small images make connections idle often, and closing an idle connection carelessly loses the next request. */
const SMALL_CLIENTS = 10;
const LARGE_CLIENTS = 2;
/** The pause between two requests of one client, for a steady load below the machine's capacity. */
const PAUSE_MS = 10;

interface Outcome {
  readonly status: number;
  readonly renderId: string;
  readonly credits: number;
  readonly isComplete: boolean;
  /** The body of an error response, or the error of the connection. */
  readonly fault: string;
}

describe.skipIf(missing.length > 0)(
  `a rolling restart (${missing.join('; ') || 'with haproxy, nats-server and PostgreSQL'})`,
  () => {
    let database: RunningDatabase;
    let nats: RunningNats;
    let balancer: RunningHaproxy | undefined;
    let key: string;
    let ports: number[];
    const apiServers: RunningServer[] = [];
    const workers: RunningWorker[] = [];
    const folder = mkdtempSync(path.join(tmpdir(), 'storybar-rolling-'));
    const [small, large] = [noisyJpeg(64, 64), noisyJpeg(600, 800)];
    const clip = readFileSync(plainClip(path.join(folder, 'clip.mp4'), { frames: 50 }));

    async function startApiServer(port: number | undefined): Promise<RunningServer> {
      const apiServer = await startServer({
        ...database.env,
        PORT: String(port),
        STORYBAR_NATS_URL: nats.url,
        STORYBAR_PLANS: plansFile({ wide: {} }),
        STORYBAR_WORKERS: '0',
        STORYBAR_VIDEO_WORKERS: '0',
        STORYBAR_INTERNAL_PORT: '0',
        // Time for HAProxy to notice, on a busy machine, too.
        STORYBAR_DRAIN_SECONDS: '15',
      });
      await until(async () => (await fetch(`${apiServer.url}/ready`)).status === 200);
      return apiServer;
    }

    async function startOneWorker(): Promise<RunningWorker> {
      const worker = await startWorker(nats.url, { STORYBAR_WORKERS: '1', STORYBAR_VIDEO_WORKERS: '1' });
      await until(() =>
        worker
          .health()
          .then(({ status, renderer: { images, videos } }) => status === 'ok' && images.ready * videos.ready),
      );
      return worker;
    }

    beforeEach(async () => {
      [database, nats, ports] = await Promise.all([
        serverDatabase(postgresUrl),
        startNats(),
        Promise.all([freePort(), freePort()]),
      ]);
      workers.push(...(await Promise.all([startOneWorker(), startOneWorker()])));
      for (const port of ports) apiServers.push(await startApiServer(port));
      key = apiServers[0]?.key ?? '';
      balancer = await startHaproxy(ports);
    });
    afterAll(() => {
      rmSync(folder, { recursive: true, force: true });
    });
    afterEach(async () => {
      await balancer?.stop();
      await Promise.all([...apiServers.splice(0), ...workers.splice(0)].map((program) => program.stop()));
      await Promise.all([nats.stop(), database.remove()]);
    });

    /** Sends requests without retries and without idempotency keys. */
    async function runClient(asset: Buffer, done: AbortSignal, outcomes: Outcome[]): Promise<void> {
      while (!done.aborted) {
        outcomes.push(await sendRequest(asset));
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }

    async function sendRequest(asset: Buffer): Promise<Outcome> {
      const nothing = { status: 0, renderId: '', credits: 0, isComplete: false };
      try {
        const response = await post({ url: balancer?.url ?? '', key }, form({ asset, text: 'again' }));
        const { status, headers } = response;
        const bytes = Buffer.from(await response.arrayBuffer());
        return {
          status,
          renderId: headers.get('x-render-id') ?? '',
          credits: Number(headers.get('x-credits-charged')),
          isComplete: bytes.length > 100 && bytes.length === Number(headers.get('content-length')),
          fault: status === 200 ? '' : bytes.toString('utf8'),
        };
      } catch (error) {
        return {
          ...nothing,
          fault: error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error),
        };
      }
    }

    it('a rolling restart fails no request and charges exactly the renders that clients received', async () => {
      const done = new AbortController();
      const [images, videos]: [Outcome[], Outcome[]] = [[], []];
      const assets = [
        ...Array.from({ length: SMALL_CLIENTS }, () => small),
        ...Array.from({ length: LARGE_CLIENTS }, () => large),
      ];
      const clients = [
        ...assets.map(async (asset) => await runClient(await asset, done.signal, images)),
        runClient(clip, done.signal, videos),
      ];
      const waitForRequests = async (): Promise<void> => {
        const before = { images: images.length, videos: videos.length };
        await until(() => images.length > before.images + 10 && videos.length > before.videos);
      };
      await waitForRequests();
      for (const [index, port] of ports.entries()) {
        apiServers[index]?.signal('SIGTERM');
        expect(await apiServers[index]?.exited).toEqual({ code: 0, signal: null });
        apiServers[index] = await startApiServer(port);
        await waitForRequests();
      }
      for (const [index, worker] of workers.entries()) {
        worker.signal('SIGTERM');
        expect(await worker.exited).toEqual({ code: 0, signal: null });
        workers[index] = await startOneWorker();
        await waitForRequests();
      }
      done.abort();
      await Promise.all(clients);

      const outcomes = [...images, ...videos];
      expect(outcomes.filter(({ status, isComplete }) => status !== 200 || !isComplete)).toEqual([]);
      console.info(`rolling restart: ${images.length} images and ${videos.length} videos, none failed`);
      const reserved = "select count(*) as held from holds where state = 'reserved'";
      await until(async () => (await database.read(reserved))[0]?.['held'] === 0);
      const settled = await database.read("select id from holds where state = 'settled'");
      const charged = new Set(settled.map(({ id }) => String(id)));
      const received = new Set(outcomes.map(({ renderId }) => renderId));
      expect({
        onlyCharged: [...charged].filter((id) => !received.has(id)),
        onlyReceived: [...received].filter((id) => !charged.has(id)),
      }).toEqual({ onlyCharged: [], onlyReceived: [] });
      expect(received.size).toBe(outcomes.length);
      expect(await database.read('select sum(used) as used, sum(reserved) as reserved from periods')).toEqual([
        { used: outcomes.reduce((sum, { credits }) => sum + credits, 0), reserved: 0 },
      ]);
    });
  },
);
