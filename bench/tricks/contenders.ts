// A contender runs one workload with one variant, in a process of its own.

import { type ChildProcessByStdio, fork, spawn } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { must } from '../../src/shared/must.ts';
import { nextMessage } from '../../test/next-message.ts';
import { plansFile } from '../../test/plans-file.ts';
import { until } from '../../test/running-server.ts';
import { ProcessorTime } from '../video/processor-time.ts';

export interface Figures {
  readonly cpuMs: number;
  readonly peakMb: number;
  /** Milliseconds of each step, and of the whole render. Empty for a server. */
  readonly renders: readonly Readonly<Record<string, number>>[];
}

export interface Contender {
  run(): Promise<Figures>;
  close(): void;
}

export interface Setup {
  readonly folder: string;
  readonly flags: readonly string[];
  readonly workload: string;
  readonly asset: string;
}

export async function startRenders({ folder, flags, workload, asset }: Setup): Promise<Contender> {
  const program = path.resolve(import.meta.dirname, 'render-process.js');
  const child = fork(program, [folder, workload, asset], { execArgv: [...flags] });
  await nextMessage(child);
  return {
    run: async () => {
      const done = nextMessage<Figures>(child);
      child.send('run');
      return await done;
    },
    close: () => child.disconnect(),
  };
}

const REQUESTS = 60;
const AT_ONCE = 6;

/** Measures the CPU time of the server itself. Its workers are other processes. */
export async function startServer({ folder, flags, workload, asset }: Setup): Promise<Contender> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    PORT: '0',
    STORYBAR_DATA_DIR: path.join(folder, 'data'),
    STORYBAR_WORKERS: '1',
    STORYBAR_PLANS: plansFile({ bench: {} }),
    STORYBAR_LOG_LEVEL: 'error',
  };
  const program = path.join(folder, 'bin/storybar.js');
  const child = spawn(process.execPath, [...flags, program, 'serve', '--print-key'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    return await sendTo(child, workload, asset);
  } catch (error) {
    child.kill();
    throw error;
  }
}

/** Waits until the server has responded to a first request. */
async function sendTo(
  child: ChildProcessByStdio<null, Readable, null>,
  workload: string,
  asset: string,
): Promise<Contender> {
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const url = await until(() => /listens on (\S+)/u.exec(printed)?.[1]);
  const key = await until(() => /(sb_live_\w+)/u.exec(printed)?.[1]);
  // Without a text, the photo is received and refused. With one, the first request is rendered, and the others get its result.
  const fields = workload === 'uploads' ? {} : { text: 'Golden hour' };
  const headers = { 'x-api-key': key, ...(workload === 'replays' && { 'idempotency-key': 'bench' }) };
  const send = async (): Promise<void> => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    body.set('asset', await openAsBlob(asset), 'photo.jpg');
    const response = await fetch(`${url}/v1/overlay`, { method: 'POST', headers, body });
    await response.arrayBuffer();
    if (response.status !== (workload === 'uploads' ? 400 : 200)) throw new Error(`got status ${response.status}`);
  };
  await send();
  return {
    run: async () => {
      const time = new ProcessorTime([must(child.pid, 'pid of the server')]);
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let count = 0; count < REQUESTS / AT_ONCE; count += 1) await send();
        }),
      );
      const { cpu, rssMb } = time.figures();
      return { cpuMs: cpu / REQUESTS, peakMb: rssMb, renders: [] };
    },
    close: () => void child.kill(),
  };
}
