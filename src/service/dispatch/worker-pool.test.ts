// The result for a caller when the workers of its task end, by the way in which they end.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FACTS, IMAGE_PROBE } from '../../../test/dispatch/sample-reports.ts';
import { anyone } from '../../../test/dispatch/lease-requests.ts';
import { DEFAULT_PLANS } from '../account/plans.ts';
import { AppError } from '../../shared/errors.ts';
import { FailedDecodes } from '../limits/failed-decodes.ts';
import { createAsset } from '../../engine/media/asset.ts';
import { processorMs } from '../../engine/media/process-tree.ts';
import { composeTransparentRecipe, DEFAULT_IMAGE_LIMITS } from '../../engine/render/recipe.ts';
import { DEFAULT_VIDEO_LIMITS } from '../../engine/render/video-recipe.ts';
import type { Reading, WatchOptions } from './progress-watch.ts';
import type { LeaseRequest } from './renderer.ts';
import type { Limits } from '../store/limits.ts';
import { WorkerDirectory } from './worker-directory.ts';
import { WorkerPool } from './worker-pool.ts';

let folder: string;
let pool: WorkerPool | undefined;
/** Why workers ended. */
const lost: unknown[] = [];
beforeEach(() => {
  lost.length = 0;
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-pool-'));
});
afterEach(async () => {
  await pool?.close();
  rmSync(folder, { recursive: true, force: true });
});

const crash = (signal: NodeJS.Signals): string => `process.kill(process.pid, '${signal}')`;
const SUCCESS = `say({ type: 'done', id, result: ${JSON.stringify(IMAGE_PROBE)} })`;
const NEVER = new AbortController().signal;

/** Uses processor time forever. */
const BURN = 'for (;;);';

interface TestPool {
  readonly workers?: number;
  readonly watch?: WatchOptions;
  readonly memoryBytes?: number;
}

/**
 * Returns a pool of one worker. Its first process does the first of these actions with its task, the next process the
 * next one.
 */
function poolOf(...actions: readonly string[]): WorkerPool {
  return poolWith({}, actions);
}

function poolWith(
  { workers = 1, watch = {}, memoryBytes = 2 * 1024 ** 3 }: TestPool,
  actions: readonly string[],
): WorkerPool {
  let started = 0;
  pool = new WorkerPool({
    kind: 'image',
    createSpec: async () => {
      const directory = path.join(folder, String(started));
      mkdirSync(directory);
      const program = `
        const say = (message) => require('node:fs').writeSync(3, JSON.stringify(message) + '\\n');
        const channel = new (require('node:net').Socket)({ fd: 3, readable: true, writable: true });
        channel.on('data', (text) => { const { id } = JSON.parse(text); ${actions[started] ?? SUCCESS}; });
        channel.on('close', () => process.exit(0));
        say({ type: 'ready' });`;
      started += 1;
      return {
        start: { file: process.execPath, args: ['-e', program], env: {} },
        directory: new WorkerDirectory(directory, directory),
        memoryBytes,
        watch,
      };
    },
    workers,
    maxWaiting: 8,
    tasksPerWorker: 100,
    onWaited: () => undefined,
    onTaskEnded: () => undefined,
    onWorkerLost: ({ killReason }) => lost.push(killReason),
    onDirectoryError: (error) => {
      throw error;
    },
  });
  return pool;
}

async function probe(workers: WorkerPool, signal = NEVER, more: Partial<LeaseRequest> = {}): Promise<unknown> {
  const asset = createAsset({ path: path.join(folder, 'asset'), format: 'jpeg', bytes: 5 });
  writeFileSync(asset.path, 'bytes');
  const limits = { ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS };
  const request = { ...anyone(signal), ...more };
  const place = workers.place(request);
  try {
    return await workers.run<'probe'>({ type: 'probe', asset, limits }, place, request);
  } finally {
    place.leave();
  }
}

describe('a pool whose workers end during a task', () => {
  it('retries it when the system killed the first one', async () => {
    expect(await probe(poolOf(crash('SIGKILL')))).toEqual(IMAGE_PROBE);
  });

  it('a pool blames the asset when it crashed two of them', async () => {
    const failed = probe(poolOf(crash('SIGSEGV'), crash('SIGSEGV')));
    await expect(failed).rejects.toMatchObject({ code: 'asset_undecodable' });
  });

  it.each([
    ['both', 'SIGKILL', 'SIGKILL'],
    ['the first', 'SIGKILL', 'SIGSEGV'],
    ['the second', 'SIGSEGV', 'SIGKILL'],
  ] as const)('a pool asks the caller to try again later when the system killed %s', async (_which, first, second) => {
    const failed = probe(poolOf(crash(first), crash(second)));
    await expect(failed).rejects.toMatchObject({ code: 'renderer_unavailable', retryAfterSeconds: 10 });
  });

  it('a pool replaces a worker that had too little memory, and does not count that as a crash', async () => {
    const short = `say({ type: 'failed', id, failure: { code: 'out_of_memory', message: 'too large' } })`;
    const workers = poolOf(short);
    await expect(probe(workers)).rejects.toMatchObject({ code: 'out_of_memory', retryAfterSeconds: 60 });
    expect(await probe(workers)).toEqual(IMAGE_PROBE);
    expect(workers.status().restarts).toBe(0);
  });

  it('a pool reports a render without an asset that takes too much memory as out of memory', async () => {
    const recipe = composeTransparentRecipe({ width: 10, height: 20 }, [{ text: 'Hi', position: null }]);
    const job = { recipe, asset: undefined, output: path.join(folder, 'output') };
    const wait = 'setInterval(() => undefined, 1_000)';
    const workers = poolWith({ memoryBytes: 1_000 }, [wait, wait]);
    const place = workers.place(anyone());
    const failed = workers.run<'render'>({ type: 'render', job }, place, anyone());
    await expect(failed).rejects.toMatchObject({ code: 'out_of_memory' });
    place.leave();
  });

  it('a pool does not retry a task for a caller who has left', async () => {
    const client = new AbortController();
    const left = new Error('the client left');
    const workers = poolOf(crash('SIGKILL'));
    const failed = probe(workers, client.signal);
    const timer = setInterval(() => workers.status().restarts > 0 && client.abort(left), 1);
    await expect(failed).rejects.toBe(left);
    clearInterval(timer);
  });
});

/** A clock by which the processes use a thousand times as much processor time. */
const FAST: WatchOptions = {
  checkMs: 10,
  read: (pid) => ({ at: performance.now(), busyMs: 1_000 * (processorMs(pid) ?? 0), idleMs: 0, processors: 1 }),
};

describe('a pool whose worker burns processor time', () => {
  it('ends it once when it has used up its budget, replaces the worker, and counts it against the account', async () => {
    const workers = poolWith({ watch: FAST }, [BURN]);
    const error = await probe(workers).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'deadline_exceeded', usedUpTime: true });
    const take = vi
      .fn<Limits['take']>()
      .mockResolvedValue({ allowed: true, remaining: 5, retryAfterMs: 0, fullAt: 0, fullInMs: 0 });
    await new FailedDecodes({ take }).count({ accountId: 'a', plan: DEFAULT_PLANS.lowest }, error);
    expect(take).toHaveBeenCalledOnce();
    expect(await probe(workers)).toEqual(IMAGE_PROBE);
    expect(workers.status().restarts).toBe(1);
  });

  it.each([
    ['counts', 'its worker was busy for half of the time', 100, 100, true],
    ['does not count', 'a busy machine did not run its worker', 0, 100, false],
    ['does not count', 'it waited in the queue most of the time', 100, 1e9, false],
  ])('%s a deadline against the account if %s', async (_counts, _why, busyMs, budget, usedUpTime) => {
    const deadline = new AbortController();
    let checks = 0;
    const read = (): Reading => {
      checks += 1;
      if (checks === 10) setImmediate(() => deadline.abort(new AppError('deadline_exceeded', 'late')));
      return { at: 0, busyMs: checks * busyMs, idleMs: 0, processors: 1 };
    };
    const workers = poolWith({ watch: { checkMs: 10, read } }, ['']);
    const failed = probe(workers, deadline.signal, { budgetMs: { image: budget, video: budget } });
    await expect(failed).rejects.toMatchObject({ code: 'deadline_exceeded', message: 'late', usedUpTime });
  });

  it('gives a worker to another account when one account burns the time of all workers', async () => {
    const workers = poolWith({ workers: 2 }, [BURN, BURN]);
    const client = new AbortController();
    const greedy = [probe(workers, client.signal), probe(workers, client.signal)];
    expect(await probe(workers, NEVER, { account: 'other' })).toEqual(IMAGE_PROBE);
    // One render made room, and that isn't a crash.
    expect(workers.status()).toMatchObject({ waiting: 1, restarts: 0 });
    expect(lost).toEqual(['gave way to another account']);
    client.abort(new Error('the test is over'));
    expect(await Promise.allSettled(greedy)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(workers.status()).toMatchObject({ waiting: 0 });
  });
});

describe('a pool whose worker loads fonts of accounts', () => {
  /** The process writes an output, and reports a number of its own as the number of missing glyphs. */
  const drawAs = (missingGlyphs: number): string =>
    `require('node:fs').writeFileSync(JSON.parse(text).task.job.output, '');
     say({ type: 'done', id, result: ${JSON.stringify({ ...FACTS, missingGlyphs })} })`;

  /** Returns the number of the process that rendered. */
  async function renderWith(workers: WorkerPool, font: string, bytes: number): Promise<number> {
    const file = { id: `font_${font}`, sha256: font.repeat(64), bytes, path: path.join(folder, 'font') };
    writeFileSync(file.path, 'font');
    const recipe = composeTransparentRecipe({ width: 10, height: 20 }, [{ text: 'Hi', position: null }]);
    const job = { recipe, asset: undefined, files: [file], output: path.join(folder, 'output') };
    const request = anyone(NEVER);
    const place = workers.place(request);
    try {
      return (await workers.run<'render'>({ type: 'render', job }, place, request)).missingGlyphs;
    } finally {
      place.leave();
    }
  }

  it('replaces it after 64 MiB of different fonts, which the next process does not have', async () => {
    const workers = poolOf(drawAs(1), drawAs(2), drawAs(3));
    const size = 30 * 1024 * 1024;
    const used: number[] = [];
    for (const font of ['a', 'a', 'b', 'a', 'c', 'a', 'b', 'c']) used.push(await renderWith(workers, font, size));
    expect(used).toEqual([1, 1, 1, 1, 1, 2, 2, 2]);
    expect(workers.status().restarts).toBe(0);
  });
});
