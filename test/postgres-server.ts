// A real PostgreSQL for tests: a throw-away cluster from the programs of this machine, on loopback. Without them, or with
// STORYBAR_TEST_POSTGRES_URL (a superuser's, to make databases in), that is used; without both, tests that need it skip.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { until } from './running-server.ts';

const run = promisify(execFile);

/** Becomes the server, and ends it when we are gone, however that came about: our end of the pipe closes then. */
const GUARDED = 'exec 3<&0; (cat <&3 >/dev/null; kill -QUIT $$ 2>/dev/null) & exec "$0" "$@" 3<&- </dev/null';
const START_TIMEOUT_MS = 60_000;
/** Debian keeps them out of the way, a folder for each version. */
const DEBIAN = '/usr/lib/postgresql';

export const NO_POSTGRES =
  'PostgreSQL is not installed (apt-get install postgresql) and STORYBAR_TEST_POSTGRES_URL not set';

export interface PostgresServer {
  /** Of a database that exists, as a superuser. */
  readonly url: string;
  start(): Promise<void>;
  /** `SIGINT`: at once, but in order. `SIGQUIT`: like a crash. */
  stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  remove(): Promise<void>;
}

/** Undefined where it is not installed. `durable`: every commit reaches the disk, for tests that crash and measure. */
export async function createPostgres(durable = false): Promise<PostgresServer | undefined> {
  const bin = findPrograms();
  if (bin === undefined) return undefined;
  const user = unprivilegedUser();
  const folder = mkdtempSync(path.join(tmpdir(), 'storybar-postgres-'));
  if (user) chownSync(folder, user.uid, user.gid);
  const data = path.join(folder, 'data');
  const options = { ...user, cwd: folder, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' } };
  await run(path.join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '-N'], options);
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const settings = [
    ...['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'max_connections=200'],
    ...(durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
  ];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  let child: ChildProcess | undefined;
  const server: PostgresServer = {
    url,
    start: async () => {
      const started = spawn('sh', ['-c', GUARDED, path.join(bin, 'postgres'), ...args], {
        ...options,
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      started.once('exit', () => started.stdin.destroy());
      child = started;
      await until(async () => {
        if (started.exitCode !== null) throw new Error(`postgres ended with ${started.exitCode}`);
        return await answers(url);
      }, START_TIMEOUT_MS);
    },
    stop: async (signal) => {
      const ending = child;
      if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
      const ended = new Promise((resolve) => ending.once('exit', resolve));
      ending.kill(signal);
      await ended;
    },
    remove: async () => {
      await server.stop('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

/** An empty database on the server at `url`. */
export async function createDatabase(url: string): Promise<string> {
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  return await client.connect().then(
    async () => {
      await client.end();
      return true;
    },
    () => false,
  );
}

function findPrograms(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : [];
  const debian = versions.map((version) => path.join(DEBIAN, version, 'bin'));
  return [...folders, ...debian].find((folder) =>
    ['initdb', 'postgres'].every((it) => existsSync(path.join(folder, it))),
  );
}

/** PostgreSQL refuses to run as root. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = ['postgres', 'nobody'].map((name) => users.find((user) => user.startsWith(`${name}:`))).find(Boolean);
  const [uid, gid] = (line ?? '').split(':').slice(2, 4).map(Number);
  if (uid === undefined || gid === undefined) throw new Error('neither postgres nor nobody is a user of this machine');
  return { uid, gid };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}
