// What others notice of an attack: the delay of `/ping`, and the renders of another account, first on the quiet server and then beside
// the attack, in the same run on the same machine.

import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { multipart } from './client.ts';
import { milliseconds, quantile } from './figures.ts';
import { CAPTION } from './invariants.ts';
import { closedLoad, latency, type LoadResult, served, servedShare } from './load.ts';
import type { Subject } from './subject.ts';
import type { Fixture, World } from './world.ts';

const PING_EVERY_MS = 10;
const MIN_SERVED = 0.99;

interface Observed {
  readonly renders: LoadResult;
  /** Milliseconds. */
  readonly pings: readonly number[];
}

/** Reports what another account notices of the attack, which goes on until the signal is aborted. */
export async function watchAttack(
  world: World,
  fixture: Fixture,
  { name, seconds, maxExtraMs, key, attack }: Attack,
): Promise<void> {
  const quiet = await observe(fixture, seconds, key);
  const stop = new AbortController();
  const attacking = attack(stop.signal);
  const beside = await observe(fixture, seconds, key).finally(() => stop.abort());
  await attacking;
  report(world, name, { quiet, beside, maxExtraMs });
}

interface Attack {
  readonly name: string;
  readonly seconds: number;
  /** The maximum delay of a ping compared with the quiet server. */
  readonly maxExtraMs: number;
  /** The key of the account that renders beside the attack. */
  readonly key: string;
  readonly attack: (signal: AbortSignal) => Promise<unknown>;
}

export async function observe({ subject, request: render }: Fixture, seconds: number, key: string): Promise<Observed> {
  const body = multipart({ text: CAPTION, width: '200', height: '200' });
  const customer = closedLoad(1, seconds, async () => await render({ key, body }));
  const [renders, pings] = await Promise.all([customer, pingFor(subject, seconds)]);
  return { renders, pings };
}

export function report(
  world: World,
  name: string,
  { quiet, beside, maxExtraMs }: { readonly quiet: Observed; readonly beside: Observed; readonly maxExtraMs: number },
): void {
  const limit = quantile(quiet.pings, 0.999) + maxExtraMs;
  const late = quantile(beside.pings, 0.999);
  world.figure('ping p99.9 on the quiet server', milliseconds(quantile(quiet.pings, 0.999)));
  world.figure(`ping p99.9 beside ${name}`, milliseconds(late), {
    target: `<= ${milliseconds(limit)}`,
    met: late <= limit,
  });
  const { responses } = beside.renders;
  world.atLeast(`other account served beside ${name} (of ${responses.length})`, servedShare(responses), MIN_SERVED);
  world.figure('other account p50, p99 on the quiet server', latencies(quiet.renders));
  world.figure(`other account p50, p99 beside ${name}`, latencies(beside.renders));
}

function latencies({ responses }: LoadResult): string {
  return `${latency(served(responses), 0.5)}, ${latency(served(responses), 0.99)}`;
}

/** They are sent on a schedule, so that a stalled server can't hide any of them. */
async function pingFor({ target }: Subject, seconds: number): Promise<number[]> {
  const started = performance.now();
  const pending: Promise<number>[] = [];
  for (let due = started; due < started + seconds * 1_000; due += PING_EVERY_MS) {
    await wait(Math.max(0, due - performance.now()));
    const sent = performance.now();
    pending.push(exchange(target, '/ping').then(() => performance.now() - sent));
  }
  return await Promise.all(pending);
}

export interface Exchange {
  readonly status: number;
  readonly text: string;
}

interface Message {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, if no other type is among the headers. */
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

/** Uses the agent of the target, whose connections are closed before leftovers are counted. */
export async function exchange(
  { url, agent }: Subject['target'],
  path: string,
  { method, key, headers, body, signal }: Message = {},
): Promise<Exchange> {
  const all = {
    ...(key !== undefined && { 'x-api-key': key }),
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...headers,
  };
  return await new Promise((resolve, reject) => {
    const options = { agent, method: method ?? (body === undefined ? 'GET' : 'POST'), headers: all };
    const outgoing = request(new URL(path, url), { ...options, ...(signal && { signal }) }, (response) => {
      text(response).then((received) => resolve({ status: response.statusCode ?? 0, text: received }), reject);
    });
    outgoing.on('error', reject).end(body);
  });
}
