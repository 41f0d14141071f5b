// `storybar worker` as a child process, with a health listener on a free port.

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Exit, exitOf } from './exit-of.ts';
import { childrenOf, innermost, METRICS_TOKEN, until, WITH_METRICS_TOKEN } from './running-server.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../bin/storybar.js');

interface WorkerHealth {
  readonly status: string;
  readonly isConnected: boolean;
  readonly busy: { readonly image: number; readonly video: number };
  readonly tickets: { readonly used: number; readonly again: number; readonly refused: number };
  readonly renderer: Readonly<Record<'images' | 'videos', { readonly ready: number; readonly busy: number }>>;
}

export interface RunningWorker {
  /** Address of `/health` and `/metrics`. */
  readonly url: string;
  readonly pid: number;
  /** Address of its health endpoint. */
  readonly healthUrl: string;
  health(): Promise<WorkerHealth>;
  /** Names of the render directories that exist now. */
  workDirectories(): string[];
  /** Its child processes. */
  childPids(): number[];
  /** The processes that render, without the sandbox around them. */
  renderPids(): number[];
  signal(name: NodeJS.Signals): void;
  readonly exited: Promise<Exit>;
  stderr(): string;
  stop(): Promise<void>;
}

export async function startWorker(
  natsUrl: string,
  environment: Readonly<Record<string, string>> = {},
  /** A program with arguments to start the worker with, such as `taskset -c 0`. */
  launcher: readonly [string, ...string[]] = ['env'],
): Promise<RunningWorker> {
  const dataDirectory = mkdtempSync(path.join(tmpdir(), 'storybar-worker-'));
  const [program, ...args] = launcher;
  const child = spawn(program, [...args, process.execPath, PROGRAM, 'worker'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      STORYBAR_SANDBOX: process.env['STORYBAR_SANDBOX'] ?? 'auto',
      STORYBAR_NATS_URL: natsUrl,
      STORYBAR_DATA_DIR: dataDirectory,
      STORYBAR_WORKERS: '1',
      STORYBAR_VIDEO_WORKERS: '0',
      PORT: '0',
      STORYBAR_METRICS_TOKEN: METRICS_TOKEN,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text));
  const exited = exitOf(child);
  const url = await until(() => {
    if (child.exitCode !== null) throw new Error(`worker exited: ${printed.stderr}`);
    return /health on (\S+)/u.exec(printed.stdout)?.[1];
  });
  const pid = child.pid ?? 0;
  return {
    url: new URL(url).origin,
    pid,
    healthUrl: url,
    exited,
    stderr: () => printed.stderr,
    health: async () => (await (await fetch(url, WITH_METRICS_TOKEN)).json()) as WorkerHealth,
    workDirectories: () => readdirSync(path.join(dataDirectory, 'work', String(pid))),
    childPids: () => childrenOf(pid),
    renderPids: () => childrenOf(pid).map(innermost),
    signal: (name) => {
      child.kill(name);
    },
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}
