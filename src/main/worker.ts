// Entry point of a render worker process, which the server starts.

import type { WorkerMessage } from '../service/dispatch/reports.ts';
import type { WorkerCommand } from '../service/dispatch/tasks.ts';
import { runWorkerLoop } from '../service/dispatch/worker-loop.ts';
import { openParentChannel } from '../engine/media/parent-channel.ts';

// The channel closes when the server exits.
const channel = openParentChannel(() => process.exit(0));

await runWorkerLoop(
  {
    send: (message: WorkerMessage) => channel.send(message),
    onMessage: (listener) => channel.onMessage((message) => listener(message as WorkerCommand)),
  },
  process.argv[2] === 'video' ? 'video' : 'image',
);
