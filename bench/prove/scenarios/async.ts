// Asynchronous renders while the server and its workers are killed at random moments. Every render must end with one
// result and be charged once.

import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { noisyJpeg } from '../../../test/pictures.ts';
import { until } from '../../../test/running-server.ts';
import { FORM_TYPE, multipart } from '../client.ts';
import { CAPTION, query } from '../invariants.ts';
import { clip } from '../payloads.ts';
import type { Subject } from '../subject.ts';
import type { Fixture, Scenario, World } from '../world.ts';

interface StoredRender {
  readonly id: string;
  readonly status: string;
  readonly credits: number | null;
  readonly output: { readonly url: string; readonly bytes: number } | null;
  readonly error: { readonly code: string } | null;
}

const CLIENTS = 4;
const END_MS = 1_800_000;
/** One of this many renders is a video. */
const VIDEO_EVERY = 20;
const RETRY_MS = 200;
const MAX_PAUSE_MS = 400;

export const asyncRenders: Scenario = {
  name: 'async',
  about: 'asynchronous renders survive kill -9 of the server and its workers',
  run: async (world) => {
    const plan = { queuedRenders: 100_000, storedBytes: 1_000_000_000_000 };
    const settings = { STORYBAR_LOG_LEVEL: 'warn', STORYBAR_WORKERS: '2', STORYBAR_VIDEO_WORKERS: '1' };
    await world.withServer({ settings, plan: { limits: plan } }, async (fixture) => await prove(world, fixture));
  },
};

async function prove(world: World, { subject, journal }: Fixture): Promise<void> {
  const total = world.choose(60, 1_000);
  const bodies = await bodiesOf();
  const started = performance.now();
  const ids: string[] = [];
  let next = 0;
  let accepted = 0;
  const killing = killAtRandom(world, subject, () => accepted / total);
  // The promise is awaited below. Until then a failure must not count as an unhandled rejection.
  killing.catch(() => undefined);
  const client = async (): Promise<void> => {
    for (let index = next++; index < total; index = next++) {
      const body = index % VIDEO_EVERY === 0 ? bodies.video : index % 2 === 0 ? bodies.image : bodies.overlay;
      ids[index] = await accept(subject, body, `prove-${world.profile.seed}-${index}`);
      accepted += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const kills = await killing;
  await until(() => active(subject) === 0, END_MS).catch(() => undefined);
  world.none('renders that never ended', active(subject));
  world.none('requests accepted twice', total - new Set(ids).size);
  const renders: StoredRender[] = [];
  for (const id of ids) renders.push(await read(subject, id));
  const failed = renders.filter(({ status }) => status !== 'succeeded');
  world.none('renders that failed', failed.length);
  for (const { id, status, error } of failed.slice(0, 3)) world.violation(`render ${id} ${status}: ${error?.code}`);
  let broken = 0;
  for (const render of renders) {
    if (await isDelivered(subject, render)) journal.delivered.set(render.id, render.credits ?? Number.NaN);
    else broken += 1;
  }
  world.none('results that cannot be downloaded', broken);
  const [jobs] = query(subject, 'select count(*) as n, max(attempts) as most from renders');
  world.none('renders that were never requested', Math.abs(Number(jobs?.['n']) - total));
  world.figure('kills', `${kills.servers} of the server, ${kills.workers} of workers`);
  world.figure('renders', `${total} in ${((performance.now() - started) / 1e3).toFixed(0)} s`);
  world.figure('most attempts at one render', String(jobs?.['most']));
}

async function bodiesOf(): Promise<Record<'image' | 'overlay' | 'video', Buffer>> {
  return {
    image: multipart({ asset: await noisyJpeg(1_200, 900), text: CAPTION }),
    overlay: multipart({ text: CAPTION, width: '400', height: '300' }),
    video: multipart({ asset: clip(), text: CAPTION }),
  };
}

/** Sends the request until it is accepted. Its key makes a repetition harmless. */
async function accept(subject: Subject, body: Buffer, key: string): Promise<string> {
  const headers = { 'content-type': FORM_TYPE, prefer: 'respond-async', 'idempotency-key': key };
  for (;;) {
    // The connection breaks while the server is killed, or before it listens again.
    const response = await exchange(subject, { method: 'POST', path: '/v1/overlay', headers, body }).catch(
      () => undefined,
    );
    if (response?.status === 202) return (JSON.parse(response.body.toString()) as StoredRender).id;
    if (response && response.status !== 503)
      throw new Error(`a request got ${response.status}: ${response.body.toString()}`);
    await wait(RETRY_MS);
  }
}

interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Uses the agent of the target, whose connections are closed before leftovers are counted. */
async function exchange(
  { target, key }: Subject,
  { method, path, headers, body }: Exchange,
): Promise<{ readonly status: number; readonly body: Buffer }> {
  return await new Promise((resolve, reject) => {
    const options = { method, agent: target.agent, headers: { 'x-api-key': key, ...headers } };
    const outgoing = request(new URL(path, target.url), options, (response) => {
      buffer(response).then((bytes) => resolve({ status: response.statusCode ?? 0, body: bytes }), reject);
    });
    outgoing.on('error', reject).end(body);
  });
}

/** Spreads kills over the run: each waits for its share of the accepted renders, and then for a random moment. */
async function killAtRandom(
  world: World,
  subject: Subject,
  acceptedShare: () => number,
): Promise<{ servers: number; workers: number }> {
  const kills = { servers: world.choose(2, 40), workers: world.choose(4, 100) };
  const total = kills.servers + kills.workers;
  for (let count = 0; count < total; count += 1) {
    await until(() => acceptedShare() >= (count + 1) / (total + 1), END_MS);
    await wait(world.random.whole(MAX_PAUSE_MS));
    // Server kills are as far apart as possible.
    const isServer = Math.floor(((count + 1) * kills.servers) / total) > Math.floor((count * kills.servers) / total);
    if (isServer) {
      await subject.kill();
      await subject.launch();
    } else {
      // Workers are killed one at a time, because a render that loses two workers in a row is meant to fail.
      await subject.waitUntilReady();
      process.kill(world.random.pick(subject.workers()), 'SIGKILL');
    }
  }
  return kills;
}

function active(subject: Subject): number {
  const [row] = query(subject, "select count(*) as n from renders where status in ('queued', 'rendering')");
  return Number(row?.['n']);
}

async function read(subject: Subject, id: string): Promise<StoredRender> {
  const { body } = await exchange(subject, { method: 'GET', path: `/v1/renders/${id}` });
  return JSON.parse(body.toString()) as StoredRender;
}

async function isDelivered(subject: Subject, { output }: StoredRender): Promise<boolean> {
  if (output === null) return false;
  const { status, body } = await exchange(subject, { method: 'GET', path: new URL(output.url).pathname });
  return status === 200 && body.length === output.bytes;
}
