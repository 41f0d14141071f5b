// Measures the CPU time of each process for one request with the real programs. docs/capacity.md is based on it,
// because a busy machine hardly changes it.

import { existsSync, readFileSync } from 'node:fs';
import type { RunningNats } from '../../test/running-nats.ts';
import { form, health, post, type RunningServer, startServer, until } from '../../test/running-server.ts';
import { type RunningWorker, startWorker } from '../../test/running-worker.ts';
import { fixed, formatTable } from '../image/table.ts';

/** Linux counts CPU time in hundredths of a second. */
const MS_PER_TICK = 10;

export interface Request {
  readonly name: string;
  readonly times: number;
  readonly fields: Readonly<Record<string, string | Buffer>>;
}

export async function measureCosts(nats: RunningNats, requests: readonly Request[]): Promise<void> {
  if (!existsSync('/proc/self/stat'))
    return console.log('skipped: CPU times are read from /proc, which this system lacks\n');
  const apiServer = await startServer({
    STORYBAR_NATS_URL: nats.url,
    STORYBAR_WORKERS: '0',
    STORYBAR_VIDEO_WORKERS: '0',
    STORYBAR_INTERNAL_PORT: '0',
    STORYBAR_LOG_LEVEL: 'warn',
  });
  const worker = await startWorker(nats.url, { STORYBAR_VIDEO_WORKERS: '1', STORYBAR_LOG_LEVEL: 'warn' });
  try {
    await until(() =>
      health(apiServer).then(({ renderer: { images, videos } }) => images.ready === 1 && videos.ready === 1),
    );
    const rows = [['CPU time per request, ms', 'API server', 'NATS', 'worker', 'its render process']];
    for (const request of requests)
      rows.push([request.name, ...(await costOf(request, apiServer, worker, nats.pid()))]);
    console.log(`${formatTable(rows)}\n`);
  } finally {
    await apiServer.stop();
    await worker.stop();
  }
}

async function costOf(
  { times, fields }: Request,
  apiServer: RunningServer,
  worker: RunningWorker,
  broker: number,
): Promise<string[]> {
  const send = async (): Promise<void> => {
    const response = await post(apiServer, form(fields));
    if (response.status !== 200) throw new Error(`the API server responded with ${response.status}`);
    await response.arrayBuffer();
  };
  for (let count = 0; count < Math.ceil(times / 3); count += 1) await send();
  const read = (): number[] => [
    cpuMs(apiServer.pid),
    cpuMs(broker),
    cpuMs(worker.pid),
    worker.childPids().reduce((sum, pid) => sum + cpuMsOfTree(pid), 0),
  ];
  const before = read();
  for (let count = 0; count < times; count += 1) await send();
  return read().map((ms, part) => fixed((ms - (before[part] ?? 0)) / times, 1));
}

/**
 * Returns the CPU time in milliseconds of a process and all its descendants. A sandboxed render process is a
 * grandchild.
 */
function cpuMsOfTree(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return children.reduce((sum, child) => sum + cpuMsOfTree(child), cpuMs(pid));
}

function cpuMs(pid: number): number {
  // The process name in parentheses may contain spaces. Only numbers follow it.
  const numbers = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  const [user, system] = [Number(numbers[11]), Number(numbers[12])];
  return (user + system) * MS_PER_TICK;
}
