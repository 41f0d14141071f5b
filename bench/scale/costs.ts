// Processor time of every part for one request, through the real programs. A busy machine hardly changes it, so this is
// what docs/capacity.md calculates with.

import { existsSync, readFileSync } from 'node:fs';
import type { RunningNats } from '../../test/running-nats.ts';
import { form, health, post, type RunningServer, startServer, until } from '../../test/running-server.ts';
import { type RunningWorker, startWorker } from '../../test/running-worker.ts';
import { fixed, formatTable } from '../image/table.ts';

/** Linux counts processor time in hundredths of a second. */
const MS_PER_TICK = 10;

export interface Request {
  readonly name: string;
  readonly times: number;
  readonly fields: Readonly<Record<string, string | Buffer>>;
}

export async function measureCosts(nats: RunningNats, requests: readonly Request[]): Promise<void> {
  if (!existsSync('/proc/self/stat')) return console.log('skipped: processor time of processes needs /proc\n');
  const front = await startServer({
    STORYBAR_NATS_URL: nats.url,
    STORYBAR_WORKERS: '0',
    STORYBAR_VIDEO_WORKERS: '0',
    STORYBAR_INTERNAL_PORT: '0',
    STORYBAR_LOG_LEVEL: 'warn',
  });
  const worker = await startWorker(nats.url, { STORYBAR_VIDEO_WORKERS: '1', STORYBAR_LOG_LEVEL: 'warn' });
  try {
    await until(() =>
      health(front).then(({ renderer: { images, videos } }) => images.ready === 1 && videos.ready === 1),
    );
    const rows = [['processor time for one request, ms', 'front', 'broker', 'worker', 'its render process']];
    for (const request of requests) rows.push([request.name, ...(await costOf(request, front, worker, nats.pid()))]);
    console.log(`${formatTable(rows)}\n`);
  } finally {
    await front.stop();
    await worker.stop();
  }
}

async function costOf(
  { times, fields }: Request,
  front: RunningServer,
  worker: RunningWorker,
  broker: number,
): Promise<string[]> {
  const ask = async (): Promise<void> => {
    const response = await post(front, form(fields));
    if (response.status !== 200) throw new Error(`the front answered ${response.status}`);
    await response.arrayBuffer();
  };
  for (let count = 0; count < Math.ceil(times / 3); count += 1) await ask();
  const read = (): number[] => [
    cpuMs(front.pid),
    cpuMs(broker),
    cpuMs(worker.pid),
    worker.childPids().reduce((sum, pid) => sum + cpuMsOfTree(pid), 0),
  ];
  const before = read();
  for (let count = 0; count < times; count += 1) await ask();
  return read().map((ms, part) => fixed((ms - (before[part] ?? 0)) / times, 1));
}

/** A render process in a sandbox is a grandchild of the worker. */
/** Milliseconds of processor time of a process and all below it. */
export function cpuMsOfTree(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return children.reduce((sum, child) => sum + cpuMsOfTree(child), cpuMs(pid));
}

function cpuMs(pid: number): number {
  // The name in brackets may hold spaces; what follows the last bracket is numbers.
  const numbers = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  const [user, system] = [Number(numbers[11]), Number(numbers[12])];
  return (user + system) * MS_PER_TICK;
}
