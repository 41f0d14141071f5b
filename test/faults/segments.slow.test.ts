// A long video on several workers: real processes that die, freeze or lose their client in the middle of a segment.

import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hasNats, type RunningNats, startNats } from '../running-nats.ts';
import { form, health, post, type RunningServer, startServer, until } from '../running-server.ts';
import { type RunningWorker, startWorker } from '../running-worker.ts';
import { BT709, paintYuv } from '../video/painting.ts';
import { plainClip } from '../video/plain-clip.ts';
import { workDirectory } from '../video/render-clip.ts';
import { structureOf, highestPsnrOfNeighbors, lowestPsnr } from '../video/seams.ts';

const API_SERVER = {
  STORYBAR_WORKERS: '0',
  STORYBAR_VIDEO_WORKERS: '0',
  STORYBAR_INTERNAL_PORT: '0',
  STORYBAR_LOG_LEVEL: 'debug',
  STORYBAR_SEGMENT_SECONDS: '2',
};
const SECONDS = 12;
/** Long enough for a busy machine. */
const TIMEOUT_MS = 60_000;

describe.skipIf(!hasNats)('a video in segments on remote workers (needs nats-server)', () => {
  const work = workDirectory();
  const running: { stop(): Promise<void> }[] = [];
  let nats: RunningNats;
  let clip: Buffer;
  beforeAll(async () => {
    nats = await startNats();
    const path = plainClip(work.path('clip.mp4'), {
      paint: paintYuv((x, y, frame) => [(x * 5 + frame * 23) % 256, (x * y + frame * 31) % 256, 120], BT709),
      width: 480,
      height: 270,
      frames: SECONDS * 30,
      encoderOptions: { preset: 'veryfast', 'x264-params': 'keyint=30:open-gop=1' },
      audio: { codec: 'aac', seconds: SECONDS, sampleRate: 48_000 },
    });
    clip = readFileSync(path);
  });
  afterAll(async () => {
    await nats.stop();
    work.remove();
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((program) => program.stop()));
  });

  async function startApiServer(environment: Record<string, string> = {}): Promise<RunningServer> {
    const server = await startServer({ ...API_SERVER, STORYBAR_NATS_URL: nats.url, ...environment });
    running.push(server);
    return server;
  }

  async function startOneWorker(): Promise<RunningWorker> {
    const started = await startWorker(nats.url, { STORYBAR_WORKERS: '0', STORYBAR_VIDEO_WORKERS: '1' });
    running.push(started);
    return started;
  }

  /** Waits until the API server knows this many idle slots. */
  const waitForSlots = (server: RunningServer, slots: number): Promise<true> =>
    until(
      () => health(server).then(({ renderer: { videos } }) => videos.ready === slots && videos.busy === 0),
      TIMEOUT_MS,
    );

  function startRender(server: RunningServer, signal?: AbortSignal, asset = clip): Promise<Response> {
    const response = post(server, form({ asset, text: 'long' }), signal ? { signal } : {});
    response.catch(() => undefined);
    return response;
  }

  async function save(pending: Promise<Response>, name: string): Promise<string> {
    const response = await pending;
    expect(response.status).toBe(200);
    const path = work.path(name);
    writeFileSync(path, Buffer.from(await response.arrayBuffer()));
    return path;
  }

  async function expectComplete(response: Promise<Response>, name: string): Promise<void> {
    const { frames, audioPackets } = structureOf(await save(response, name));
    // The price of one render, however many workers rendered parts of it.
    expect((await response).headers.get('x-credits-charged')).toBe(String(Math.ceil(SECONDS / 5)));
    expect(frames).toHaveLength(SECONDS * 30);
    expect(audioPackets.length).toBeGreaterThan(500);
  }

  const hasLogged = (server: RunningServer, text: string): boolean => {
    const { stdout, stderr } = server.output();
    return (stdout + stderr).includes(text);
  };
  /** The worker has fetched the asset and its process renders a segment. */
  const isRendering = async (one: RunningWorker): Promise<boolean> => {
    const { busy, renderer } = await one.health();
    return busy.video > 0 && renderer.videos.busy > 0;
  };
  const allAre = (workers: readonly RunningWorker[], check: (one: RunningWorker) => Promise<boolean>) =>
    until(async () => (await Promise.all(workers.map(check))).every(Boolean), TIMEOUT_MS);

  async function expectNothingLeft(server: RunningServer, workers: readonly RunningWorker[]): Promise<void> {
    await allAre(workers, async (one) => (await one.health()).busy.video === 0);
    await until(() => workers.every((one) => one.workDirectories().length === 0));
    await until(() => server.workDirectories().length === 0);
    await until(async () => {
      const { waiting, taken } = (await health(server)).renderer.remote?.queue.videos ?? { waiting: -1, taken: -1 };
      return waiting === 0 && taken === 0;
    });
  }

  it('a video in segments is the same on two workers as on one', async () => {
    const [server, first] = await Promise.all([startApiServer(), startOneWorker()]);
    await waitForSlots(server, 1);
    const one = await save(startRender(server), 'one.mp4');
    expect(hasLogged(server, 'cut into segments')).toBe(false);
    const second = await startOneWorker();
    await waitForSlots(server, 2);
    const response = await startRender(server);
    expect(response.headers.get('server-timing')).toMatch(/encode;dur=.*join;dur=/u);
    const two = await save(Promise.resolve(response), 'two.mp4');
    expect(hasLogged(server, 'cut into segments')).toBe(true);
    const [left, right] = [structureOf(one), structureOf(two)];
    expect({ ...right, keyframes: left.keyframes }).toEqual(left);
    expect(lowestPsnr(one, two).decibels).toBeGreaterThan(highestPsnrOfNeighbors(one) + 10);
    await until(async () => (await second.health()).tickets.used > 0);
    await expectNothingLeft(server, [first, second]);
  });

  it('an asynchronous video is cut for two workers, too', async () => {
    const [server] = await Promise.all([startApiServer(), startOneWorker(), startOneWorker()]);
    await waitForSlots(server, 2);
    const accepted = await post(server, form({ asset: clip, text: 'long' }), { headers: { prefer: 'respond-async' } });
    const { id } = (await accepted.json()) as { id: string };
    const { output, credits } = await until(async () => {
      const headers = { 'x-api-key': server.key };
      const response = await fetch(`${server.url}/v1/renders/${id}?wait=30`, { headers });
      const render = (await response.json()) as { status: string; credits: number; output: { url: string } };
      return render.status === 'succeeded' && render;
    }, TIMEOUT_MS);
    expect(credits).toBe(Math.ceil(SECONDS / 5));
    expect(hasLogged(server, 'cut into segments')).toBe(true);
    expect(structureOf(await save(fetch(output.url), 'asynchronous.mp4')).frames).toHaveLength(SECONDS * 30);
  });

  it('a video is complete although a worker is killed', async () => {
    const [server, victim, other] = await Promise.all([startApiServer(), startOneWorker(), startOneWorker()]);
    await waitForSlots(server, 2);
    const response = startRender(server);
    await allAre([victim, other], isRendering);
    victim.signal('SIGKILL');
    await expectComplete(response, 'killed.mp4');
    expect(hasLogged(server, 'cut into segments')).toBe(true);
    await expectNothingLeft(server, [other]);
  });

  it('a video does not wait for a worker whose render process is stopped', async () => {
    const [server, slow, other] = await Promise.all([startApiServer(), startOneWorker(), startOneWorker()]);
    await waitForSlots(server, 2);
    const response = startRender(server);
    await allAre([slow, other], isRendering);
    for (const pid of slow.renderPids()) process.kill(pid, 'SIGSTOP');
    await expectComplete(response, 'slow.mp4');
    expect(hasLogged(server, 'handed out a second time')).toBe(true);
    await expectNothingLeft(server, [slow, other]);
  });

  it('a video is complete although a worker freezes', async () => {
    const [server, frozen, other] = await Promise.all([startApiServer(), startOneWorker(), startOneWorker()]);
    await waitForSlots(server, 2);
    const response = startRender(server);
    await allAre([frozen, other], isRendering);
    frozen.signal('SIGSTOP');
    await expectComplete(response, 'frozen.mp4');
    expect(hasLogged(server, 'cut into segments')).toBe(true);
    frozen.signal('SIGCONT');
    await expectNothingLeft(server, [frozen, other]);
  });

  it('a video in segments on remote workers stops on all workers when the client disconnects', async () => {
    const [server, ...workers] = await Promise.all([startApiServer(), startOneWorker(), startOneWorker()]);
    await waitForSlots(server, 2);
    const client = new AbortController();
    const response = startRender(server, client.signal);
    await allAre(workers, isRendering);
    client.abort();
    await expect(response).rejects.toThrow(/abort/iu);
    await expectNothingLeft(server, workers);
    await waitForSlots(server, 2);
    await expectComplete(startRender(server), 'after.mp4');
  });

  it('a video is rendered whole when its cuts turn out to be unusable', async () => {
    const [server, ...workers] = await Promise.all([startApiServer(), startOneWorker(), startOneWorker()]);
    await waitForSlots(server, 2);
    const damaged = Buffer.from(clip);
    damaged.fill(0xa5, 200_000, 200_600);
    const { frames } = structureOf(await save(startRender(server, undefined, damaged), 'damaged.mp4'));
    expect(frames.length).toBeGreaterThan(SECONDS * 30 - 40);
    expect(hasLogged(server, 'rendered whole')).toBe(true);
    await expectNothingLeft(server, workers);
  });
});
