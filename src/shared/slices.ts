// Long computations on the server's thread. They are generators that yield wherever they can be interrupted, so the computation
// itself stays a pure function and the caller decides whether other requests get a turn.

import { setImmediate } from 'node:timers/promises';
import { Semaphore } from './semaphore.ts';
import type { Steps } from './steps.ts';

const SLICE_MS = 5;
/** A short computation never waits, however busy the machine is. */
const MIN_STEPS = 16;

/** Only one computation continues in each iteration of the event loop, so that many of them don't add up. */
const turns = new Semaphore({ permits: 1 });

export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Lets the event loop continue every few milliseconds. */
export async function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  let step = runSlice(steps);
  while (step.done !== true) {
    step = await turns.run(async () => {
      await setImmediate();
      return runSlice(steps);
    });
  }
  return step.value;
}

function runSlice<Result>(steps: Steps<Result>): IteratorResult<undefined, Result> {
  const ends = performance.now() + SLICE_MS;
  for (let count = 1; ; count += 1) {
    const step = steps.next();
    if (step.done === true || (count > MIN_STEPS && performance.now() >= ends)) return step;
  }
}
