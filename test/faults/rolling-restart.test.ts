// An update of everything while callers come: every front and every worker is replaced, one after the other, behind the
// load balancer that we ship. Nobody notices.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
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

/** Many small pictures: the more often a connection is free for the next request, the more a careless goodbye breaks. */
const SMALL_CALLERS = 10;
const LARGE_CALLERS = 2;
/** Between two requests of one caller: a steady load, not as much as the machine can bear. */
const PAUSE_MS = 10;

interface Answer {
  readonly status: number;
  readonly renderId: string;
  readonly credits: number;
  readonly whole: boolean;
  /** What went wrong, in the words of whoever refused. */
  readonly fault: string;
}

describe.skipIf(missing.length > 0)(`a rolling restart (${missing.join('; ') || 'everything is there'})`, () => {
  let database: RunningDatabase;
  let nats: RunningNats;
  let balancer: RunningHaproxy | undefined;
  let key: string;
  let ports: number[];
  const fronts: RunningServer[] = [];
  const workers: RunningWorker[] = [];
  const folder = mkdtempSync(path.join(tmpdir(), 'storybar-rolling-'));
  const [small, large] = [noisyJpeg(64, 64), noisyJpeg(600, 800)];
  const clip = readFileSync(plainClip(path.join(folder, 'clip.mp4'), { frames: 50 }));

  async function startFront(port: number | undefined): Promise<RunningServer> {
    const front = await startServer({
      ...database.env,
      PORT: String(port),
      STORYBAR_NATS_URL: nats.url,
      STORYBAR_PLANS: plansFile({ wide: {} }),
      STORYBAR_WORKERS: '0',
      STORYBAR_VIDEO_WORKERS: '0',
      STORYBAR_INTERNAL_PORT: '0',
      STORYBAR_DRAIN_SECONDS: '5',
    });
    await until(async () => (await fetch(`${front.url}/ready`)).status === 200);
    return front;
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

  beforeAll(async () => {
    [database, nats, ports] = await Promise.all([
      serverDatabase(postgresUrl),
      startNats(),
      Promise.all([freePort(), freePort()]),
    ]);
    workers.push(...(await Promise.all([startOneWorker(), startOneWorker()])));
    for (const port of ports) fronts.push(await startFront(port));
    key = fronts[0]?.key ?? '';
    balancer = await startHaproxy(ports);
  });
  afterAll(async () => {
    await balancer?.stop();
    await Promise.all([...fronts, ...workers].map((program) => program.stop()));
    await Promise.all([nats.stop(), database.remove()]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** Asks, again and again, as anybody would: once each, with nothing that would make a repetition safe. */
  async function call(asset: Buffer, over: AbortSignal, answers: Answer[]): Promise<void> {
    while (!over.aborted) {
      answers.push(await ask(asset));
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  async function ask(asset: Buffer): Promise<Answer> {
    const nothing = { status: 0, renderId: '', credits: 0, whole: false };
    try {
      const response = await post({ url: balancer?.url ?? '', key }, form({ asset, text: 'again' }));
      const { status, headers } = response;
      const bytes = Buffer.from(await response.arrayBuffer());
      return {
        status,
        renderId: headers.get('x-render-id') ?? '',
        credits: Number(headers.get('x-credits-charged')),
        whole: bytes.length > 100 && bytes.length === Number(headers.get('content-length')),
        fault: status === 200 ? '' : bytes.toString('utf8'),
      };
    } catch (error) {
      return { ...nothing, fault: error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error) };
    }
  }

  it('loses no request and charges for exactly what was received', { timeout: 240_000 }, async () => {
    const over = new AbortController();
    const [images, videos]: [Answer[], Answer[]] = [[], []];
    const pictures = [
      ...Array.from({ length: SMALL_CALLERS }, () => small),
      ...Array.from({ length: LARGE_CALLERS }, () => large),
    ];
    const callers = [
      ...pictures.map(async (picture) => await call(await picture, over.signal, images)),
      call(clip, over.signal, videos),
    ];
    const everybodyAsked = async (): Promise<void> => {
      const [seen, filmed] = [images.length, videos.length];
      await until(() => images.length > seen + 10 && videos.length > filmed);
    };
    await everybodyAsked();
    for (const [index, port] of ports.entries()) {
      fronts[index]?.signal('SIGTERM');
      expect(await fronts[index]?.exited).toEqual({ code: 0, signal: null });
      fronts[index] = await startFront(port);
      await everybodyAsked();
    }
    for (const [index, worker] of workers.entries()) {
      worker.signal('SIGTERM');
      expect(await worker.exited).toEqual({ code: 0, signal: null });
      workers[index] = await startOneWorker();
      await everybodyAsked();
    }
    over.abort();
    await Promise.all(callers);

    const answers = [...images, ...videos];
    expect(answers.filter(({ status, whole }) => status !== 200 || !whole)).toEqual([]);
    console.info(`rolling restart: ${images.length} images and ${videos.length} videos, none failed`);
    const reserved = "select count(*) as held from renders where state = 'reserved'";
    await until(async () => (await database.read(reserved))[0]?.['held'] === 0);
    const settled = await database.read("select id from renders where state = 'settled'");
    expect(settled.map(({ id }) => String(id)).toSorted()).toEqual(answers.map(({ renderId }) => renderId).toSorted());
    expect(await database.read('select sum(used) as used, sum(reserved) as reserved from periods')).toEqual([
      { used: answers.reduce((sum, { credits }) => sum + credits, 0), reserved: 0 },
    ]);
  });
});
