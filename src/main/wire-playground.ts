// Wires up the playground: renders for visitors without a key, and renders that the account of a signed-in visitor pays for.

import type { SessionGuard } from '../site/identity/session-guard.ts';
import { identifyMember, playgroundAccountRoutes, previewMember } from '../site/playground/playground-account.ts';
import type { AccountRenderDependencies } from '../service/http/playground/account-render.ts';
import { guestRoutes } from '../service/http/playground/guest-routes.ts';
import { RenderProgress } from '../service/http/playground/render-progress.ts';
import type { RouteGroup } from '../service/http/route-group.ts';
import { FreeClips } from '../service/limits/free-clips.ts';
import { UploadBudget } from '../service/renders/upload-budget.ts';
import { deadlinesOf } from './deadlines.ts';
import type { ServerParts } from './server-parts.ts';

/** The share of the disk space for uploads. */
const GUEST_SHARE = 0.1;
const PREVIEWS_PER_MINUTE = 60;
const RENDERS_PER_MINUTE = 6;

export interface PlaygroundServices extends Pick<AccountRenderDependencies, 'identifyMember' | 'progress'> {
  readonly groups: readonly RouteGroup[];
}

export function wirePlayground(parts: ServerParts, sessionGuard: SessionGuard): PlaygroundServices {
  const { settings, plans, store, limits, renderer, styles, logos, workArea, sender, shutdown } = parts;
  const progress = new RenderProgress();
  const accounts = { store, plans, sessionGuard, styles, logos, shutdown };
  // Guests have disk space of their own, so they can't use up what paying callers need.
  const uploads = new UploadBudget(settings.dataDirectory, {
    maxBytes: settings.uploadMegabytes * 1_000_000 * GUEST_SHARE,
    maxSeconds: settings.uploadSeconds,
  });
  const guests = guestRoutes({
    renderer,
    styles,
    logos,
    memberOf: previewMember(accounts),
    unmarked: limits,
    workArea,
    uploads,
    sender,
    progress,
    addressLimits: limits,
    deadlineMs: deadlinesOf(settings),
    limits: plans.lowest.limits,
    previewsPerMinute: PREVIEWS_PER_MINUTE,
    rendersPerMinute: RENDERS_PER_MINUTE,
    rendersPerDay: settings.playgroundRendersPerDay,
    clips: new FreeClips(limits, settings.playgroundClipsPerDay),
    shutdown,
  });
  return {
    groups: [guests, progress.routes, playgroundAccountRoutes(accounts)],
    identifyMember: identifyMember(accounts),
    progress,
  };
}
