// Wires the routes of the API that render or report.

import type { Settings } from '../config/settings.ts';
import type { Renderer } from '../dispatch/renderer.ts';
import type { AssetFetcher } from '../fetch/asset-fetcher.ts';
import { layoutRoute } from '../http/layout-route.ts';
import { type OverlayDependencies, overlayRoute } from '../http/overlay/overlay-route.ts';
import type { FileSender } from '../http/overlay/file-sender.ts';
import { type AccountRenderDependencies, accountRenderRoute } from '../http/playground/account-render.ts';
import type { RouteGroup } from '../http/route-group.ts';
import type { RunningRequests } from '../http/transport/running-requests.ts';
import { usageRoute } from '../http/usage-route.ts';
import type { WorkArea } from '../media/work-area.ts';
import type { UploadBudget } from '../renders/upload-budget.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RenderServices } from './start-renders.ts';
import { deadlinesOf } from './deadlines.ts';
import type { BillingServices } from './wire-access.ts';

export interface ApiParts {
  readonly settings: Settings;
  readonly store: Store;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly billing: BillingServices['parts'];
  readonly renders: RenderServices['parts'];
  readonly playground: Pick<AccountRenderDependencies, 'identifyMember' | 'progress'>;
  readonly renderer: Renderer;
  readonly workArea: WorkArea;
  readonly uploads: UploadBudget;
  readonly sender: FileSender;
  readonly running: RunningRequests;
  readonly fetcher: AssetFetcher;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
}

export function apiRoutes(parts: ApiParts): RouteGroup {
  const { settings, store, billing, playground, renderer, workArea, shutdown } = parts;
  const { authenticator, marketplace, admission } = billing;
  const readers = { authenticator, marketplace, admission };
  const overlay = overlayDependencies(parts);
  const { identifyMember, progress } = playground;
  return {
    register: (app) => {
      app.post('/v1/overlay', overlayRoute(overlay));
      app.post('/playground/account/render', accountRenderRoute({ overlay, identifyMember, progress }));
      app.post(
        '/v1/layout',
        layoutRoute({ ...readers, renderer, workArea, deadlineMs: deadlinesOf(settings), shutdown }),
      );
      app.get('/v1/usage', usageRoute({ ...readers, store }));
    },
  };
}

function overlayDependencies(parts: ApiParts): OverlayDependencies {
  const { settings, logger, metrics, billing, renders, renderer, workArea, uploads, sender, running } = parts;
  return {
    authenticator: billing.authenticator,
    marketplace: billing.marketplace,
    admission: billing.admission,
    refusals: billing.refusals,
    failedDecodes: billing.failedDecodes,
    reservations: billing.reservations,
    idempotency: billing.idempotency,
    acceptor: renders.acceptor,
    links: renders.links,
    results: renders.results,
    users: renders.users,
    fetcher: parts.fetcher,
    renderer,
    deadlineMs: deadlinesOf(settings),
    workArea,
    uploads,
    sender,
    running,
    shutdown: parts.shutdown,
    logger,
    metrics,
  };
}
