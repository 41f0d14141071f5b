// Collects garbage between measurements. Otherwise, the garbage of one contender would slow down the next one.

import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

export async function settle(): Promise<void> {
  collectGarbage();
  // Finalizers free native memory on the next turns of the event loop.
  await setImmediate();
  await setImmediate();
}
