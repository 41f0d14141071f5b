// Composition root of a render worker process; started by the server, never by hand.

import type { FromWorker, ToWorker } from '../dispatch/protocol.ts';
import { runWorkerLoop } from '../dispatch/worker-loop.ts';

// Without the server there is nobody to render for.
process.on('disconnect', () => process.exit(0));

await runWorkerLoop(
  {
    send: (message: FromWorker) => process.send?.(message),
    onMessage: (listener) => process.on('message', (message) => listener(message as ToWorker)),
  },
  process.argv[2] === 'video' ? 'video' : 'image',
);
