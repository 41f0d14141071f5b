// Wires the routes of the API that render or report.

import { fontRoutes } from '../service/http/font-routes.ts';
import { layoutRoutes } from '../service/http/layout-route.ts';
import { type OverlayDependencies, overlayRoutes } from '../service/http/overlay/overlay-route.ts';
import { type AccountRenderDependencies, accountRenderRoute } from '../service/http/playground/account-render.ts';
import type { RouteGroup } from '../service/http/route-group.ts';
import { logoRoutes } from '../service/http/logo-routes.ts';
import { styleRoutes } from '../service/http/style-routes.ts';
import { usageRoutes } from '../service/http/usage-route.ts';
import { deadlinesOf } from './deadlines.ts';
import type { ServerParts } from './server-parts.ts';
import type { RenderServices } from './start-renders.ts';

export function apiRoutes(
  parts: ServerParts,
  renders: RenderServices,
  { identifyMember, progress }: Pick<AccountRenderDependencies, 'identifyMember' | 'progress'>,
): RouteGroup {
  const { store, access, renderer, styles, logos, workArea, shutdown } = parts;
  const { keyRoutes, admission, failedDecodes } = access;
  const { brandFiles: files, uploads, limits: rates } = parts;
  const overlay = overlayDependencies(parts, renders);
  const forFrames = { workArea, deadlineMs: overlay.deadlineMs, shutdown };
  const forUploads = { ...forFrames, uploads, rates };
  const groups = [
    overlayRoutes(overlay),
    layoutRoutes(keyRoutes, { ...forFrames, admission, failedDecodes, renderer, styles, logos }),
    usageRoutes(keyRoutes, store),
    logoRoutes(keyRoutes, { ...forUploads, logos }),
    styleRoutes(keyRoutes, { styles, shutdown }),
    fontRoutes(keyRoutes, { ...forUploads, failedDecodes, files, renderer }),
  ];
  return {
    register: (app) => {
      for (const group of groups) group.register(app);
      app.post('/playground/account/render', accountRenderRoute({ overlay, identifyMember, progress }));
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
