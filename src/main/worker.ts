// Composition root of a render worker process; started by the server, never by hand.

import type { FromWorker, ToWorker } from '../dispatch/protocol.ts';
import { runWorkerLoop } from '../dispatch/worker-loop.ts';
import { openParentChannel } from '../media/parent-channel.ts';

// Without the server there is nobody to render for.
const channel = openParentChannel(() => process.exit(0));

await runWorkerLoop(
  {
    send: (message: FromWorker) => channel.send(message),
    onMessage: (listener) => channel.onMessage((message) => listener(message as ToWorker)),
  },
  process.argv[2] === 'video' ? 'video' : 'image',
);
