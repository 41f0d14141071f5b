import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import { createLogger } from '../telemetry/logger.ts';
import { type JobControl, LeasedRunner, type LeasedJob, LeaseLost } from './leased-runner.ts';

/** Runs until the test ends it or the runner aborts it. */
class HeldJob implements LeasedJob {
  readonly id: string;
  readonly entry = {};
  isOurs = true;
  renewals = 0;
  control: JobControl | undefined;
  end: () => void = () => undefined;
  reason: unknown;

  constructor(id: string) {
    this.id = id;
  }

  async renew(): Promise<boolean> {
    this.renewals += 1;
    return await Promise.resolve(this.isOurs);
  }

  async run(control: JobControl): Promise<void> {
    this.control = control;
    await new Promise<void>((resolve) => {
      this.end = resolve;
      const abort = (): void => {
        this.reason = control.signal.reason;
        resolve();
      };
      if (control.signal.aborted) abort();
      else control.signal.addEventListener('abort', abort);
    });
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function runnerOf(due: HeldJob[], max = 2) {
  const ended: string[] = [];
  const runner = new LeasedRunner<HeldJob>({
    name: 'test',
    logger: createLogger('silent', 'test'),
    room: (running) => max - running.length,
    claim: async (count) => await Promise.resolve(due.splice(0, count)),
    onEnded: ({ id }) => ended.push(id),
  });
  runner.start();
  return { runner, ended };
}

it('the runner claims as many jobs as there is room for, and another when one ends', async () => {
  const jobs = ['a', 'b', 'c'].map((id) => new HeldJob(id));
  const { runner, ended } = runnerOf([...jobs]);
  await vi.advanceTimersByTimeAsync(1);
  expect(jobs.map(({ control }) => control !== undefined)).toEqual([true, true, false]);
  jobs[1]?.end();
  await vi.advanceTimersByTimeAsync(1);
  expect([ended, runner.running, jobs[2]?.control !== undefined]).toEqual([['b'], 2, true]);
});

it('the runner renews the lease of a running job, and aborts the job when its lease is lost', async () => {
  const [kept, lost] = [new HeldJob('kept'), new HeldJob('lost')];
  const { ended } = runnerOf([kept, lost]);
  await vi.advanceTimersByTimeAsync(2_001);
  lost.isOurs = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect([kept.renewals, lost.renewals, ended]).toEqual([2, 2, ['lost']]);
  expect([kept.reason, lost.reason]).toEqual([undefined, expect.any(LeaseLost)]);
});

it('the runner aborts only the job that is dropped', async () => {
  const [canceled, other] = [new HeldJob('canceled'), new HeldJob('other')];
  const { runner } = runnerOf([canceled, other]);
  await vi.advanceTimersByTimeAsync(1);
  runner.drop('canceled');
  expect([canceled.reason, other.reason]).toEqual([expect.any(LeaseLost), undefined]);
});

it('the runner claims nothing more when it stops, and aborts what has not ended after the grace period', async () => {
  const jobs = ['quick', 'slow', 'late'].map((id) => new HeldJob(id));
  const { runner, ended } = runnerOf([...jobs]);
  await vi.advanceTimersByTimeAsync(1);
  const stopped = runner.stop(1_000);
  jobs[0]?.end();
  await vi.advanceTimersByTimeAsync(1_000);
  await stopped;
  expect(ended).toEqual(['quick', 'slow']);
  expect(jobs.map(({ reason }) => (reason as AppError | undefined)?.code)).toEqual([
    undefined,
    'shutting_down',
    undefined,
  ]);
});

it('the runner gives back a job whose claim was on its way when it stopped', async () => {
  const late = new HeldJob('late');
  let answer: (jobs: HeldJob[]) => void = () => undefined;
  const runner = new LeasedRunner<HeldJob>({
    name: 'test',
    logger: createLogger('silent', 'test'),
    room: () => 1,
    claim: async () => await new Promise<HeldJob[]>((resolve) => (answer = resolve)),
  });
  runner.start();
  const stopped = runner.stop(0);
  await vi.advanceTimersByTimeAsync(1);
  answer([late]);
  await stopped;
  expect((late.reason as AppError).code).toBe('shutting_down');
});

it('the runner repeats a write while the database is unavailable, but no other failed write', async () => {
  const job = new HeldJob('a');
  runnerOf([job]);
  await vi.advanceTimersByTimeAsync(1);
  let writes = 0;
  const written = job.control?.write(async () => {
    writes += 1;
    if (writes < 3) throw new AppError('storage_unavailable', 'The database is unavailable.');
    return await Promise.resolve(writes);
  });
  await vi.advanceTimersByTimeAsync(1_500);
  expect(await written).toBe(3);
  await expect(job.control?.write(async () => await Promise.reject(new Error('a bug')))).rejects.toThrow('a bug');
});
