// A real PgBouncer in transaction mode, in front of a PostgreSQL server. Tests that need it are skipped where it isn't
// installed.

import { spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.ts';

/** Debian installs it in a folder that isn't on every user's path. */
const PROGRAM = ['pgbouncer', '/usr/sbin/pgbouncer'].find((file) => spawnSync(file, ['--version']).status === 0);
/** Debian's `nobody`. PgBouncer refuses to run as root. */
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export const hasPgBouncer = PROGRAM !== undefined;
export const NO_PGBOUNCER = 'pgbouncer is not installed (apt-get install pgbouncer)';

export interface RunningPgBouncer {
  /** The same database, through PgBouncer. */
  urlOf(databaseUrl: string): string;
  stop(): Promise<void>;
}

/** All clients share `connections` to each database, so that session state of one client would show up in others. */
export async function startPgBouncer(postgresUrl: string, connections = 2): Promise<RunningPgBouncer> {
  const { hostname, port: serverPort, username } = new URL(postgresUrl);
  const port = await freePort();
  const folder = mkdtempSync(path.join(tmpdir(), 'storybar-pgbouncer-'));
  const files = { users: path.join(folder, 'users.txt'), config: path.join(folder, 'pgbouncer.ini') };
  writeFileSync(files.users, `"${username}" ""\n`);
  writeFileSync(
    files.config,
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${files.users}
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 500
`,
  );
  for (const file of [folder, ...Object.values(files)]) {
    if (UNPRIVILEGED.uid !== undefined) chownSync(file, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  }
  const child = spawn(PROGRAM ?? 'pgbouncer', [files.config], { ...UNPRIVILEGED, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.includes('process up')) resolve();
    });
    void exited.then(() => reject(new Error(`pgbouncer exited: ${printed}`)));
  });
  return {
    urlOf: (databaseUrl) => {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${port}`;
      return url.href;
    },
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
