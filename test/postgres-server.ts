// A temporary PostgreSQL server for tests, started on loopback from the installed binaries. If the environment variable
// TESTS_POSTGRES_URL is set, tests create their databases there instead; it must name a superuser. With neither,
// tests that need PostgreSQL are skipped.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { until } from './running-server.ts';

const run = promisify(execFile);

/** Runs the server and kills it when the pipe to this process closes, so it doesn't outlive a test run that crashes. */
const RUN_WHILE_PIPE_IS_OPEN =
  'exec 3<&0; (cat <&3 >/dev/null; kill -QUIT $$ 2>/dev/null) & exec "$0" "$@" 3<&- </dev/null';
const START_TIMEOUT_MS = 300_000;
/** Debian installs the binaries here, in a folder for each version. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';

export const NO_POSTGRES = 'PostgreSQL is not installed (apt-get install postgresql) and TESTS_POSTGRES_URL is not set';

export interface PostgresServer {
  /** URL of an existing database, with a superuser. */
  readonly url: string;
  start(): Promise<void>;
  /** `SIGINT` shuts down cleanly without waiting for clients; `SIGQUIT` ends like a crash. */
  stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Returns undefined when PostgreSQL isn't installed. `durable` flushes every commit to disk, for benchmarks and crash
 * tests.
 */
export async function createPostgres(durable = false): Promise<PostgresServer | undefined> {
  const bin = findPostgres();
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
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=400',
    ...(durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
  ];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  let child: ChildProcess | undefined;
  const server: PostgresServer = {
    url,
    start: async () => {
      const started = spawn('sh', ['-c', RUN_WHILE_PIPE_IS_OPEN, path.join(bin, 'postgres'), ...args], {
        ...options,
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      started.once('exit', () => started.stdin.destroy());
      child = started;
      await until(async () => {
        if (started.exitCode !== null) throw new Error(`postgres exited with ${started.exitCode}`);
        return await acceptsConnections(url);
      }, START_TIMEOUT_MS);
    },
    stop: async (signal) => {
      const running = child;
      if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
      const exited = new Promise((resolve) => running.once('exit', resolve));
      running.kill(signal);
      await exited;
    },
    remove: async () => {
      await server.stop('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

/** Creates an empty database on the server and returns its URL. */
export async function createDatabase(url: string): Promise<string> {
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const databaseUrl = new URL(url);
  databaseUrl.pathname = `/${name}`;
  return databaseUrl.href;
}

async function acceptsConnections(url: string): Promise<boolean> {
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

/** The folder with PostgreSQL's programs. */
export function findPostgres(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const versions = existsSync(DEBIAN_FOLDER)
    ? readdirSync(DEBIAN_FOLDER).toSorted((a, b) => Number(b) - Number(a))
    : [];
  const debian = versions.map((version) => path.join(DEBIAN_FOLDER, version, 'bin'));
  return [...folders, ...debian].find((folder) =>
    ['initdb', 'postgres'].every((binary) => existsSync(path.join(folder, binary))),
  );
}

/** PostgreSQL refuses to run as root. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = ['postgres', 'nobody'].map((name) => users.find((user) => user.startsWith(`${name}:`))).find(Boolean);
  const [uid, gid] = (line ?? '').split(':').slice(2, 4).map(Number);
  if (uid === undefined || gid === undefined)
    throw new Error('PostgreSQL cannot run as root, and there is no user named postgres or nobody');
  return { uid, gid };
}
