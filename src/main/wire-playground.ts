// Wires up the playground: renders for visitors without a key, and renders that the account of a signed-in visitor pays for.

import { deadlinesOf } from './deadlines.ts';
import type { Settings } from '../config/settings.ts';
import type { PlanBook } from '../account/plans.ts';
import {
  identifyMember,
  playgroundAccountRoutes,
  type PlaygroundAccountDependencies,
} from '../dashboard/playground/playground-account.ts';
import { LocalLimits } from '../limits/local-limits.ts';
import { UploadBudget } from '../renders/upload-budget.ts';
import type { AccountRenderDependencies } from '../http/playground/account-render.ts';
import { FreeClips } from '../limits/free-clips.ts';
import { type GuestDependencies, guestRoutes } from '../http/playground/guest-routes.ts';
import { RenderProgress } from '../http/playground/render-progress.ts';
import type { RouteGroup } from '../http/route-group.ts';
import type { Store } from '../store/store.ts';

/** The share of the disk space for uploads. */
const GUEST_SHARE = 0.1;
const PREVIEWS_PER_MINUTE = 60;
const RENDERS_PER_MINUTE = 6;

type Shared = Pick<GuestDependencies, 'renderer' | 'workArea' | 'sender' | 'shutdown'> &
  Pick<PlaygroundAccountDependencies, 'sessionGuard'>;

export interface PlaygroundWiring extends Shared {
  readonly settings: Settings;
  readonly plans: PlanBook;
  readonly store: Store;
}

export function wirePlayground(wiring: PlaygroundWiring): {
  readonly groups: readonly RouteGroup[];
  readonly parts: Pick<AccountRenderDependencies, 'identifyMember' | 'progress'>;
} {
  const { settings, plans, store } = wiring;
  const addressLimits = store.limits ?? new LocalLimits();
  const progress = new RenderProgress();
  // Guests have disk space of their own, so they can't use up what paying callers need.
  const uploads = new UploadBudget(settings.dataDirectory, {
    maxBytes: settings.uploadMegabytes * 1_000_000 * GUEST_SHARE,
    maxSeconds: settings.uploadSeconds,
  });
  const guests = guestRoutes({
    ...wiring,
    uploads,
    progress,
    addressLimits,
    deadlineMs: deadlinesOf(settings),
    limits: plans.lowest.limits,
    previewsPerMinute: PREVIEWS_PER_MINUTE,
    rendersPerMinute: RENDERS_PER_MINUTE,
    rendersPerDay: settings.playgroundRendersPerDay,
    clips: new FreeClips(addressLimits, settings.playgroundClipsPerDay),
  });
  return {
    groups: [guests, progress.routes, playgroundAccountRoutes(wiring)],
    parts: { identifyMember: identifyMember(wiring), progress },
  };
}
