// Wires the routes of the API that render or report.

import { fontRoutes } from '../http/font-routes.ts';
import { layoutRoute } from '../http/layout-route.ts';
import { type OverlayDependencies, overlayRoute } from '../http/overlay/overlay-route.ts';
import { type AccountRenderDependencies, accountRenderRoute } from '../http/playground/account-render.ts';
import type { RouteGroup } from '../http/route-group.ts';
import { logoRoutes } from '../http/logo-routes.ts';
import { styleRoutes } from '../http/style-routes.ts';
import { usageRoute } from '../http/usage-route.ts';
import { deadlinesOf } from './deadlines.ts';
import type { ServerParts } from './server-parts.ts';
import type { RenderServices } from './start-renders.ts';

export function apiRoutes(
  parts: ServerParts,
  renders: RenderServices,
  { identifyMember, progress }: Pick<AccountRenderDependencies, 'identifyMember' | 'progress'>,
): RouteGroup {
  const { settings, store, access, renderer, styles, logos, workArea, shutdown } = parts;
  const { keyRoute, admission, failedDecodes } = access;
  const overlay = overlayDependencies(parts, renders);
  const deadlineMs = deadlinesOf(settings);
  return {
    register: (app) => {
      app.post('/v1/overlay', overlayRoute(overlay));
      app.post('/playground/account/render', accountRenderRoute({ overlay, identifyMember, progress }));
      app.post(
        '/v1/layout',
        layoutRoute({ keyRoute, admission, failedDecodes, renderer, styles, logos, workArea, deadlineMs, shutdown }),
      );
      const { name: marketplace } = access.marketplace;
      const forChanges = { keyRoute, admission, keys: store.keys, marketplace, shutdown };
      const { brandFiles: files, uploads, limits: rates } = parts;
      const forUploads = { ...forChanges, workArea, uploads, rates, deadlineMs };
      logoRoutes({ ...forUploads, logos }).register(app);
      app.get('/v1/usage', usageRoute({ keyRoute, store }));
      styleRoutes({ ...forChanges, styles }).register(app);
      fontRoutes({ ...forUploads, failedDecodes, files, renderer }).register(app);
    },
  };
}

function overlayDependencies(
  parts: ServerParts,
  { acceptor, idempotency, links, results, runner }: RenderServices,
): OverlayDependencies {
  const { settings, store, access, renderer, workArea, uploads, sender, running } = parts;
  return {
    authenticator: access.authenticator,
    marketplace: access.marketplace,
    admission: access.admission,
    refusals: access.refusals,
    failedDecodes: access.failedDecodes,
    speechCaptions: access.speechCaptions,
    outputBytes: settings.outputBytes,
    reservations: access.reservations,
    idempotency,
    acceptor,
    links,
    results,
    runner,
    users: store.users,
    styles: parts.styles,
    keys: store.keys,
    logos: parts.logos,
    fetcher: parts.fetcher,
    renderer,
    deadlineMs: deadlinesOf(settings),
    workArea,
    uploads,
    sender,
    running,
    shutdown: parts.shutdown,
    logger: parts.logger,
    metrics: parts.metrics,
  };
}
