// Entry point of a render worker process, which the server starts.

import type { FromWorker, ToWorker } from '../dispatch/protocol.ts';
import { runWorkerLoop } from '../dispatch/worker-loop.ts';
import { openParentChannel } from '../media/parent-channel.ts';

// The channel closes when the server exits.
const channel = openParentChannel(() => process.exit(0));

await runWorkerLoop(
  {
    send: (message: FromWorker) => channel.send(message),
    onMessage: (listener) => channel.onMessage((message) => listener(message as ToWorker)),
  },
  process.argv[2] === 'video' ? 'video' : 'image',
);
