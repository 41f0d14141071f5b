// HAProxy with the configuration in deploy/, in front of servers on this machine. Tests that need it are skipped when it
// isn't installed.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.ts';
import { until } from './running-server.ts';

/** Debian installs it in /usr/sbin, which is often not in the PATH of ordinary users. */
const SEARCH_PATH = `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin`;
const ENVIRONMENT = { PATH: SEARCH_PATH };

export const SHIPPED_CONFIGURATION = path.resolve(import.meta.dirname, '../deploy/haproxy.cfg');

/** Use it as `describe.skipIf(!hasHaproxy)('... (needs haproxy)')`, so the title says why the tests were skipped. */
export const hasHaproxy = spawnSync('haproxy', ['-v'], { env: ENVIRONMENT }).status === 0;

export interface RunningHaproxy {
  readonly url: string;
  /** Everything HAProxy has logged so far. */
  log(): string;
  stop(): Promise<void>;
}

/** Runs HAProxy's configuration check. Returns its exit status and output. */
export function checkConfiguration(file: string): { readonly status: number | null; readonly said: string } {
  const { status, stderr } = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8', env: ENVIRONMENT });
  return { status, said: stderr };
}

export async function startHaproxy(serverPorts: readonly number[]): Promise<RunningHaproxy> {
  const port = await freePort();
  const directory = mkdtempSync(path.join(tmpdir(), 'storybar-haproxy-'));
  const file = path.join(directory, 'haproxy.cfg');
  writeFileSync(file, adapt(readFileSync(SHIPPED_CONFIGURATION, 'utf8'), port, serverPorts));
  const child = spawn('haproxy', ['-db', '-f', file], { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (log += text));
  }
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const url = `http://127.0.0.1:${port}`;
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`haproxy exited: ${log}`);
    return await fetch(`${url}/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return {
    url,
    log: () => log,
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Replaces only the port and the servers; everything else stays as shipped. */
function adapt(shipped: string, port: number, serverPorts: readonly number[]): string {
  const found = /^ {2}server-template api \d+ api:8080 (?<how>.*) resolvers docker init-addr none$/mu.exec(shipped);
  if (found === null || !shipped.includes('bind :8080\n')) throw new Error('deploy/haproxy.cfg is not what we adapt');
  const servers = serverPorts.map((at, index) => `  server api${index} 127.0.0.1:${at} ${found.groups?.['how'] ?? ''}`);
  return shipped.replace('bind :8080\n', `bind 127.0.0.1:${port}\n`).replace(found[0], servers.join('\n'));
}
