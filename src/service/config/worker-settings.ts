// Settings of render workers: their number, limits, queue and sandbox.

import { availableParallelism } from 'node:os';
import { anyText, megabytes, oneOf, wholeNumber } from './parse.ts';
import { setting } from './setting.ts';

const SANDBOX_MODES = ['required', 'auto', 'limits', 'off'] as const;

export const WORKER_SETTINGS = {
  workers: setting(
    'STORYBAR_WORKERS',
    String(availableParallelism()),
    'Number of render worker processes for images and overlays. Each renders one at a time. Default: one per CPU core. 0 is allowed with STORYBAR_NATS_URL and leaves these renders to other machines.',
    wholeNumber(0, 256),
  ),
  videoWorkers: setting(
    'STORYBAR_VIDEO_WORKERS',
    String(Math.max(1, Math.floor(availableParallelism() / 4))),
    'Number of render worker processes for videos, HEIC and AVIF. Each uses several CPU cores. Default: one per four cores, but at least one. A server without STORYBAR_NATS_URL has one more, which starts with the first video and renders only short ones. 0 is allowed with STORYBAR_NATS_URL and leaves videos to other machines.',
    wholeNumber(0, 256),
  ),
  workerTasks: setting(
    'STORYBAR_WORKER_TASKS',
    '2000',
    'Number of tasks after which a worker process is replaced. `1` runs every task in a process of its own, which is slow.',
    wholeNumber(1, 1_000_000),
  ),
  workerMemory: setting(
    'STORYBAR_WORKER_MEMORY_MB',
    '2048',
    'Memory limit of an image worker, in megabytes. A worker that exceeds it is killed.',
    megabytes(256),
  ),
  videoWorkerMemory: setting(
    'STORYBAR_VIDEO_WORKER_MEMORY_MB',
    '4096',
    'Memory limit of a video worker, in megabytes. A worker that exceeds it is killed.',
    megabytes(256),
  ),
  outputBytes: setting('STORYBAR_OUTPUT_MB', '2048', 'Largest file a worker may write, in megabytes.', megabytes(1)),
  sandbox: setting(
    'STORYBAR_SANDBOX',
    'auto',
    'Isolation of render workers; see [hardening](hardening.md). `auto`: the strongest level this machine supports. ' +
      '`required`: do not start without bubblewrap. `limits`: resource limits at most. `off`: separate processes only.',
    oneOf(SANDBOX_MODES),
  ),
  searchPath: setting(
    'PATH',
    '/usr/local/bin:/usr/bin:/bin',
    'Directories to search for `bwrap` and `prlimit`.',
    anyText,
  ),
  queueLength: setting(
    'STORYBAR_QUEUE',
    '64',
    'Number of renders that may wait for a worker, counted separately for images and videos. Further requests get 503.',
    wholeNumber(0, 100_000),
  ),
  deadlineSeconds: setting(
    'STORYBAR_DEADLINE_SECONDS',
    '60',
    'Time limit for an image, from the complete upload to the finished file, in seconds. Then the request gets 504.',
    wholeNumber(1, 3_600),
  ),
  videoDeadlineSeconds: setting(
    'STORYBAR_VIDEO_DEADLINE_SECONDS',
    '300',
    'Time limit for a video, from the complete upload to the finished file, in seconds. Then the request gets 504.',
    wholeNumber(1, 86_400),
  ),
} as const;
