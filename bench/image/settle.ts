// A clean start for whoever is measured next: without it, the garbage of one contender is collected on the next one's time.

import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

export async function settle(): Promise<void> {
  collectGarbage();
  // Native memory goes back in finalizers, which run on the next turns of the loop.
  await setImmediate();
  await setImmediate();
}
