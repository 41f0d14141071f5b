// Starts the real program as a child process, on a free port and with an empty data directory.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { must } from '../src/shared/must.ts';
import { type Exit, exitOf } from './exit-of.ts';
import { runCommand } from './run-command.ts';
import { START_ARGUMENTS } from './start-command.ts';

export interface RunningServer {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
  readonly dataDirectory: string;
  /** Everything the server has printed so far. */
  output(): { stdout: string; stderr: string };
  /** Runs a command with the settings of the server, and returns what it prints. */
  cli(...args: string[]): Promise<string>;
  /** The render workers, without the sandbox processes around them. */
  workerPids(): number[];
  /** Paths of the render directories that exist right now. */
  workDirectories(): string[];
  signal(name: NodeJS.Signals): void;
  readonly exited: Promise<Exit>;
  stop(): Promise<void>;
}

/** All servers and workers of tests have the same token. */
export const METRICS_TOKEN = 'token-for-metrics';
export const WITH_METRICS_TOKEN = { headers: { authorization: `Bearer ${METRICS_TOKEN}` } } as const;

/** With `endsWithTests`, the server ends when the process that runs the tests does, however that happens. */
export async function startServer(
  environment: Readonly<Record<string, string>> = {},
  { endsWithTests = false } = {},
): Promise<RunningServer> {
  const dataDirectory = mkdtempSync(path.join(tmpdir(), 'storybar-test-'));
  const env = {
    PATH: process.env['PATH'] ?? '',
    // Lets the whole suite run at one sandbox level: STORYBAR_SANDBOX=limits npx vitest run
    STORYBAR_SANDBOX: process.env['STORYBAR_SANDBOX'] ?? 'auto',
    STORYBAR_DATA_DIR: dataDirectory,
    // Starting a worker takes most of a second, and few tests need two.
    STORYBAR_WORKERS: '1',
    PORT: '0',
    STORYBAR_METRICS_TOKEN: METRICS_TOKEN,
    // Lets tests create live keys after they sign up.
    STORYBAR_SIGN_UP: 'trusted',
    ...environment,
  };
  const child = endsWithTests
    ? launchWithKeeper(env)
    : spawn(process.execPath, START_ARGUMENTS, { env, stdio: [...STDIO] });
  const printed = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text));
  const exited = exitOf(child);
  const started = endsWithTests ? ((await once(child, 'message')) as [number])[0] : child.pid;
  const pid = must(started, 'pid of the server');
  const url = await waitForMatch(child, printed, /listens on (\S+)/u);
  // The server prints a key only for a new data directory, and a hint about `keys create` otherwise.
  const key = await waitForMatch(child, printed, /(sb_live_\w+|keys create)/u);
  const server: RunningServer = {
    url,
    key,
    pid,
    dataDirectory,
    exited,
    output: () => ({ ...printed }),
    cli: async (...args) => {
      const { code, stdout, stderr } = await runCommand(args, { env });
      if (code !== 0) throw new Error(`storybar ${args.join(' ')} exited with ${code}: ${stderr}`);
      return stdout;
    },
    workerPids: () => childrenOf(pid).map(innermost),
    workDirectories: () => {
      const area = path.join(dataDirectory, 'work', String(pid));
      return readdirSync(area).map((name) => path.join(area, name));
    },
    signal: (name) => {
      child.kill(name);
    },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
  await until(
    async () => await (env.STORYBAR_METRICS_TOKEN === METRICS_TOKEN ? hasAllWorkers(server) : isReady(server)),
    START_TIMEOUT_MS,
  );
  return server;
}

const STDIO = ['ignore', 'pipe', 'pipe'] as const;

/**
 * The keeper sends the pid of the server. It has a process group of its own, so that Ctrl+C doesn't end it too early.
 */
function launchWithKeeper(env: Readonly<Record<string, string>>): ChildProcess {
  const keeper = path.resolve(import.meta.dirname, 'server-keeper.js');
  const child = spawn(process.execPath, [keeper, ...START_ARGUMENTS], {
    env,
    stdio: [...STDIO, 'ipc'],
    detached: true,
  });
  // It doesn't keep the tests alive.
  for (const handle of [child, child.channel, child.stdout as Socket | null, child.stderr as Socket | null])
    handle?.unref();
  return child;
}

async function hasAllWorkers(server: RunningServer): Promise<boolean> {
  const { images, videos } = (await health(server)).renderer;
  return images.ready === images.workers && videos.ready === videos.workers;
}

async function isReady({ url }: RunningServer): Promise<boolean> {
  return (await fetch(`${url}/ready`)).ok;
}

/** The timeout is long, because machines that run tests are often small and shared. */
const START_TIMEOUT_MS = 300_000;

async function waitForMatch(child: ChildProcess, printed: { stdout: string; stderr: string }, pattern: RegExp) {
  try {
    return await until(() => {
      if (child.exitCode !== null) throw new Error(`the server exited with ${child.exitCode}`);
      return pattern.exec(printed.stdout)?.[1];
    }, START_TIMEOUT_MS);
  } catch (error) {
    // The caller gets no handle to stop it with.
    child.kill('SIGKILL');
    throw new Error(`the server did not start; output: ${printed.stdout}${printed.stderr}`, { cause: error });
  }
}

export async function health(server: Pick<RunningServer, 'url'>) {
  const response = await fetch(`${server.url}/health`, WITH_METRICS_TOKEN);
  return (await response.json()) as {
    status: string;
    sandbox: { level: string; guards: string[] };
    renderer: {
      images: PoolHealth;
      videos: PoolHealth;
      remote?: {
        isConnected: boolean;
        workers: { images: number; videos: number };
        queue: { images: TicketCount; videos: TicketCount };
      };
      codecs?: { ffmpeg: string; available: Record<string, boolean> };
    };
  };
}

interface TicketCount {
  readonly waiting: number;
  readonly taken: number;
}

interface PoolHealth {
  readonly workers: number;
  readonly ready: number;
  readonly busy: number;
  readonly waiting: number;
  readonly restarts: number;
}

/** Direct child processes; none of a process that has ended. */
export function childrenOf(pid: number): number[] {
  return readProcess(pid, `task/${pid}/children`).trim().split(/\s+/u).filter(Boolean).map(Number);
}

/** A file of a process under `/proc`; empty for a process that has ended. */
export function readProcess(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

/** Does nothing if the process has ended. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A sandboxed worker is a grandchild of the server: the processes in between only wait for it. */
export function innermost(pid: number): number {
  const [child] = childrenOf(pid);
  return child === undefined ? pid : innermost(child);
}

/** Polls until the check returns a truthy value, and returns that value. */
export async function until<Value>(
  check: () => Value | Promise<Value>,
  timeoutMs = 180_000,
): Promise<Exclude<Value, undefined | null | false | 0 | ''>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await check();
    if (value) return value as Exclude<Value, undefined | null | false | 0 | ''>;
    if (Date.now() > deadline) throw new Error(`not true within ${timeoutMs} ms: ${check.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Builds a form. A Buffer becomes a file. */
export function form(values: Readonly<Record<string, string | Buffer>>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, new Blob([new Uint8Array(value)]), 'upload');
  }
  return data;
}

export async function post(
  server: Pick<RunningServer, 'url' | 'key'>,
  body: string | FormData,
  options: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Response> {
  return await fetch(`${server.url}/v1/overlay`, {
    method: 'POST',
    body,
    headers: { 'x-api-key': server.key, ...options.headers },
    ...(options.signal && { signal: options.signal }),
  });
}

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: string;
  readonly limit?: number;
  readonly actual?: number;
  readonly renewsAt?: string;
  readonly errors?: readonly { pointer: string; code: string; detail: string }[];
}

/** Checks what all problem responses have in common, and returns the problem. */
export async function problemOf(response: Response): Promise<Problem> {
  const type = response.headers.get('content-type') ?? '';
  if (!type.startsWith('application/problem+json')) throw new Error(`a ${response.status} has content type ${type}`);
  const problem = (await response.json()) as Problem;
  if (problem.status !== response.status)
    throw new Error(`the status is ${response.status}, but ${problem.status} in the body`);
  if (problem.instance !== response.headers.get('x-request-id'))
    throw new Error('`instance` differs from x-request-id');
  if (!URL.canParse(problem.type)) throw new Error(`\`type\` isn't a URL: ${problem.type}`);
  return problem;
}
