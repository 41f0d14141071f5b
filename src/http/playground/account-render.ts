// Renders from the playground that an account pays for: the same route as POST /v1/overlay, for a key that the visitor typed or
// for the account that the visitor is signed in to.

import type { RouteShorthandOptionsWithHandler } from 'fastify';
import { keyOf } from '../access/key-header.ts';
import { byCredentials, type Identify } from '../overlay/admit.ts';
import { type OverlayDependencies, overlayRoute } from '../overlay/overlay-route.ts';
import type { RenderProgress } from './render-progress.ts';

export interface AccountRenderDependencies extends OverlayDependencies {
  /** Finds the account of the visitor's session. */
  readonly identifyMember: Identify;
  readonly progress: RenderProgress;
}

export function accountRenderRoute(dependencies: AccountRenderDependencies): RouteShorthandOptionsWithHandler {
  const { authenticator, identifyMember, progress } = dependencies;
  const identifyByKey = byCredentials(authenticator);
  const identify: Identify = async (request, ...rest) =>
    await (keyOf(request.headers) === undefined ? identifyMember : identifyByKey)(request, ...rest);
  return {
    ...overlayRoute(dependencies, identify),
    preHandler: async (request, reply) => progress.track(request, reply),
  };
}
