import { constants } from 'node:os';
import { CommandFailure } from '../exit-codes.ts';

/** Shells report a command that a signal ended with 128 and the number of the signal. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Calls `work` with a signal that aborts on Ctrl-C. A second Ctrl-C ends the process at once. */
export async function withInterrupts(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  const handlers = SIGNALS.map((name) => {
    const exit = 128 + constants.signals[name];
    const interrupt = (): void => {
      if (controller.signal.aborted) process.exit(exit);
      controller.abort(new CommandFailure('Interrupted.', { code: 'interrupted', exit }));
    };
    process.on(name, interrupt);
    return { name, interrupt };
  });
  try {
    await work(controller.signal);
  } finally {
    for (const { name, interrupt } of handlers) process.off(name, interrupt);
  }
}
