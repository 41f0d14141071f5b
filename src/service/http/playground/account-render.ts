// Renders from the playground that an account pays for. They use the same route as POST /v1/overlay, with a key that
// the visitor typed or the account that the visitor is signed in to.

import type { RouteShorthandOptionsWithHandler } from 'fastify';
import { keyOf } from '../access/key-header.ts';
import { byCredentials, type Identify } from '../overlay/admit.ts';
import { type OverlayDependencies, overlayRoute } from '../overlay/overlay-route.ts';
import type { RenderProgress } from './render-progress.ts';

export interface AccountRenderDependencies {
  readonly overlay: OverlayDependencies;
  /** Finds the account of the visitor's session. */
  readonly identifyMember: Identify;
  readonly progress: RenderProgress;
}

export function accountRenderRoute({
  overlay,
  identifyMember,
  progress,
}: AccountRenderDependencies): RouteShorthandOptionsWithHandler {
  const identifyByKey = byCredentials(overlay.authenticator);
  const identify: Identify = async (request, ...rest) =>
    await (keyOf(request.headers) === undefined ? identifyMember : identifyByKey)(request, ...rest);
  return {
    ...overlayRoute(overlay, identify),
    preHandler: async (request, reply) => progress.track(request, reply),
  };
}
