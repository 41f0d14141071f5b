// A real NATS server with JetStream on a free port. Tests that need it are skipped where it isn't installed.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.ts';

const PROGRAM = process.env['NATS_SERVER'] ?? 'nats-server';

/** Mention it in the title: `describe.skipIf(!hasNats)('... (needs nats-server)')`. */
export const hasNats = spawnSync(PROGRAM, ['--version']).status === 0;

export interface RunningNats {
  readonly url: string;
  pid(): number;
  /** Kills the server, which loses everything it has in memory. */
  kill(): Promise<void>;
  /** Starts an empty server on the same port, optionally with another configuration. */
  restart(configuration?: string): Promise<void>;
  stop(): Promise<void>;
}

interface NatsOptions {
  /** Text of a configuration file; its store directory and monitoring port are replaced. */
  readonly configuration?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export async function startNats(options: NatsOptions = {}): Promise<RunningNats> {
  const port = await freePort();
  const directory = mkdtempSync(path.join(tmpdir(), 'storybar-nats-'));
  let server = await launch(port, directory, options);
  const stop = async (): Promise<void> => {
    await server.kill();
    rmSync(directory, { recursive: true, force: true });
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    pid: () => server.pid,
    kill: () => server.kill(),
    restart: async (configuration) => {
      server = await launch(port, directory, { ...options, ...(configuration !== undefined && { configuration }) });
    },
    stop,
  };
}

async function launch(
  port: number,
  directory: string,
  { configuration = `jetstream { store_dir: x }`, environment }: NatsOptions,
): Promise<{ readonly pid: number; kill(): Promise<void> }> {
  const configFile = path.join(directory, 'nats.conf');
  const adapted = configuration
    .replace(/store_dir: .*?(?=[\n}])/u, `store_dir: "${directory}"`)
    .replace(/http_port: .*/u, '');
  writeFileSync(configFile, adapted);
  const child = spawn(PROGRAM, ['-c', configFile, '-a', '127.0.0.1', '-p', String(port)], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.includes('Server is ready')) resolve();
    });
    void exited.then(() => reject(new Error(`nats-server exited: ${printed}`)));
  });
  return {
    pid: child.pid ?? 0,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
