// Hosts of `asset_url` that never respond or send as slowly as allowed, and accounts that together store as much as the
// service allows. Other accounts must not notice the hosts, and the service must accept nothing that it has no room
// for.

import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { noisyJpeg } from '../../../test/pictures.ts';
import { until } from '../../../test/running-server.ts';
import { CAPTION, query } from '../invariants.ts';
import { clip } from '../payloads.ts';
import type { Subject, TestAccount } from '../subject.ts';
import type { Fixture, Scenario, World } from '../world.ts';

const HOST = '127.0.0.2';
/** Each attacker has two renders at a time, as on the free plan. */
const ATTACKERS = 5;
const PER_ACCOUNT = 2;
const HINTS = Buffer.from('HTTP/1.1 103 x\r\n\r\n'.repeat(3_600));
const QUIET_MS = 2_000;
const DRIP_MS = 100;
/** This is 100 kB per second, which is fast enough for the server. */
const DRIP_BYTES = 10_000;

interface StoredRender {
  readonly id: string;
  readonly status: string;
  readonly credits: number | null;
  readonly code?: string;
  readonly error: { readonly code: string; readonly detail: string } | null;
}

export const remoteHosts: Scenario = {
  name: 'remote-hosts',
  about: 'hosts that send only 103 responses or as slowly as they may, and a full storage',
  run: async (world) => {
    const settings = { STORYBAR_LOG_LEVEL: 'warn', STORYBAR_FETCH_ALLOW: HOST, STORYBAR_STORED_GB: '1' };
    const options = { accounts: ATTACKERS + 1, plan: { concurrentRenders: PER_ACCOUNT }, settings };
    const hosts = await Hosts.open();
    try {
      await world.withServer(options, async (fixture) => {
        await neverRespond(world, fixture, hosts);
        await dripping(world, fixture, hosts);
        await fillStorage(world, fixture);
      });
    } finally {
      hosts.close();
    }
  },
};

/**
 * Measures with pings how late other responses are. The machine itself may be busy, so they are compared with earlier
 * pings.
 */
async function neverRespond(world: World, { subject }: Fixture, hosts: Hosts): Promise<void> {
  const accounts = subject.accounts.slice(0, ATTACKERS);
  const quietUntil = performance.now() + QUIET_MS;
  const quiet = await pingWhile(subject, () => performance.now() < quietUntil);
  const attacks = accounts.flatMap((account) =>
    Array.from({ length: world.choose(2, 20) }, async () => await accept(subject, account, hosts.url('hints'))),
  );
  let isOver = false;
  const pings = pingWhile(subject, () => !isOver);
  const accepted = await Promise.all(attacks);
  const ended = await Promise.all(accepted.map(async ({ render, account }) => await end(subject, account, render.id)));
  isOver = true;
  const delays = await pings;
  world.figure('longest ping before', `${Math.max(...quiet).toFixed(0)} ms`);
  world.figure('longest ping beside hosts that send only 103', `${Math.max(...delays).toFixed(0)} ms`);
  // The server was busy with a host until the deadline if it gave up only then.
  const isCutOff = ({ error }: StoredRender): boolean => error?.detail.includes('informational responses') === true;
  world.none('hosts that could send 103 until their time was over', ended.filter((each) => !isCutOff(each)).length);
}

async function dripping(world: World, { subject, journal }: Fixture, hosts: Hosts): Promise<void> {
  const held: { readonly account: TestAccount; readonly render: StoredRender }[] = [];
  for (const account of subject.accounts.slice(0, ATTACKERS)) {
    for (let count = 0; count < PER_ACCOUNT; count += 1) held.push(await accept(subject, account, hosts.url('drip')));
  }
  // On a timeout, the figures below report it.
  await until(() => hosts.dripping === held.length, 20_000).catch(() => undefined);
  const other = subject.account(ATTACKERS);
  const { render } = await accept(subject, other, hosts.url('photo'));
  const { status, credits } = await end(subject, other, render.id);
  if (status === 'succeeded') journal.delivered.set(render.id, credits ?? Number.NaN);
  world.figure('hosts that send slowly', `${hosts.dripping} of ${held.length} at once`);
  world.none('files of other accounts that were not fetched beside them', status === 'succeeded' ? 0 : 1);
  for (const each of held) await call(subject, each.account, `/v1/renders/${each.render.id}`, { method: 'DELETE' });
  await until(() => hosts.dripping === 0);
}

/** Fills the storage as if other accounts had stored the rest, because uploading it would take minutes. */
async function fillStorage(world: World, { subject, journal }: Fixture): Promise<void> {
  query(subject, "insert into stored_bytes_total (shard, bytes) values ('prove', 500000000) returning bytes");
  const attempts = await Promise.all(
    subject.accounts.map(async (account) => (await accept(subject, account)).render.code),
  );
  world.none(
    'requests accepted beyond the limit of all accounts',
    attempts.filter((code) => code !== 'storage_full').length,
  );
  query(subject, "delete from stored_bytes_total where shard = 'prove' returning bytes");
  const account = subject.account(0);
  const { id } = (await accept(subject, account)).render;
  const { status, credits } = await end(subject, account, id);
  if (status === 'succeeded') journal.delivered.set(id, credits ?? Number.NaN);
  world.none('requests refused although there is room again', status === 'succeeded' ? 0 : 1);
}

async function accept(
  subject: Subject,
  account: TestAccount,
  asset_url?: string,
): Promise<{ readonly account: TestAccount; readonly render: StoredRender }> {
  const fields = asset_url === undefined ? { width: 64, height: 64 } : { asset_url };
  const headers = { 'content-type': 'application/json', prefer: 'respond-async' };
  const body = JSON.stringify({ text: CAPTION, ...fields });
  return { account, render: await call(subject, account, '/v1/overlay', { method: 'POST', headers, body }) };
}

async function end(subject: Subject, account: TestAccount, id: string): Promise<StoredRender> {
  return await call(subject, account, `/v1/renders/${id}?wait=30`);
}

async function call(
  { target }: Subject,
  { key }: TestAccount,
  path: string,
  { headers = {}, ...options }: Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> } = {},
): Promise<StoredRender> {
  const response = await fetch(new URL(path, target.url), {
    ...options,
    headers: { 'x-api-key': key, connection: 'close', ...headers },
  });
  return (await response.json()) as StoredRender;
}

async function pingWhile({ target }: Subject, isGoing: () => boolean): Promise<number[]> {
  const delays: number[] = [];
  do {
    const started = performance.now();
    await (await fetch(new URL('/ping', target.url), { headers: { connection: 'close' } })).text();
    delays.push(performance.now() - started);
    await wait(5);
  } while (isGoing());
  return delays;
}

class Hosts {
  dripping = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(photo: Buffer, video: Buffer) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.once('data', (request: Buffer) => {
        const path = /^GET \/(?<name>\w+)/u.exec(request.toString('latin1'))?.groups?.['name'];
        if (path === 'hints') sendHints(socket);
        else if (path === 'drip') this.#drip(socket, video);
        else socket.end(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), photo]));
      });
    });
  }

  static async open(): Promise<Hosts> {
    const hosts = new Hosts(await noisyJpeg(320, 240), clip());
    hosts.#server.listen(0, HOST);
    await once(hosts.#server, 'listening');
    return hosts;
  }

  url(name: 'hints' | 'drip' | 'photo'): string {
    const address = this.#server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return `http://${HOST}:${port}/${name}`;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #drip(socket: Socket, video: Buffer): void {
    this.dripping += 1;
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.write(video);
    const timer = setInterval(() => socket.write(Buffer.alloc(DRIP_BYTES)), DRIP_MS);
    socket.once('close', () => {
      clearInterval(timer);
      this.dripping -= 1;
    });
  }
}

function sendHints(socket: Socket): void {
  const more = (): void => {
    while (socket.writable && socket.write(HINTS)) continue;
  };
  socket.on('drain', more);
  more();
}
