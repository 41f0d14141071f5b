// Permits to put tickets on the broker's queue. Workers take tickets in order of arrival, so fairness between accounts
// is decided before that. An API server may have a limited number of tickets on the queue, and all other renders wait
// here in a fair queue.

import type { AssetKind } from '../../../../engine/media/sniff.ts';
import { type Place, PlaceQueue } from '../../queue/place.ts';

export type Permits = PlaceQueue<void>;
export type PermitPlace = Place<void>;

/** Even without a worker, an autoscaler must see tickets on the broker's queue. */
const MIN_PERMITS = 2;
/** Workers report their slots themselves, and false reports must not flood the broker. */
const MAX_PERMITS = 10_000;

/**
 * `workerSlots` is the number of renders that workers on other machines can run at a time. Call `dispatch` when it has
 * grown.
 */
export function createPermits(
  kind: AssetKind,
  workerSlots: () => number,
  maxWaiting: number,
  now?: () => number,
): Permits {
  let taken = 0;
  // For every render that can run, another ticket waits on the broker's queue, so no worker has to wait for us.
  const target = (): number => Math.min(MAX_PERMITS, workerSlots() * 2 + MIN_PERMITS);
  return new PlaceQueue<void>(
    kind,
    {
      total: workerSlots,
      forShort: () => (workerSlots() > 1 ? 1 : 0),
      free: () => target() - taken,
      take: () => {
        taken += 1;
      },
      giveBack: () => {
        taken -= 1;
      },
    },
    maxWaiting,
    now,
  );
}
