// The route POST /v1/overlay: admission, then the handler. It counts how every request ended and cleans up after it.
// `overlay-handler.ts` has the steps in between.

import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest, RouteShorthandOptionsWithHandler } from 'fastify';
import type { WorkArea } from '../../media/work-area.ts';
import { must } from '../../primitives/must.ts';
import { toAppError } from '../error-handler.ts';
import { recordOf } from '../transport/request-record.ts';
import type { RunningRequests } from '../transport/running-requests.ts';
import { createRequestSignal } from '../transport/request-signal.ts';
import { type AdmitDependencies, type Admitted, admit, byCredentials, type Identify } from './admit.ts';
import type { OverlayContext } from './overlay-context.ts';
import { type HandlerDependencies, overlayHandler } from './overlay-handler.ts';
import { outcomeOf } from '../../renders/refusals.ts';

export interface OverlayDependencies extends AdmitDependencies, HandlerDependencies {
  readonly workArea: WorkArea;
  readonly running: RunningRequests;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
}

/** Admission is a hook because the framework looks at the body's type before it calls the handler. */
export function overlayRoute(
  dependencies: OverlayDependencies,
  identify: Identify = byCredentials(dependencies.authenticator),
): RouteShorthandOptionsWithHandler {
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  return {
    onRequest: async (request, reply) => {
      try {
        admitted.set(request, await admit(dependencies, request, reply, identify));
      } catch (error) {
        dependencies.metrics.requestEnded('none', outcomeOf(error), reply.elapsedTime / 1_000);
        throw error;
      }
    },
    handler: async (request, reply) => {
      const admission = must(admitted.get(request), 'the admission of the request');
      await dependencies.running.run(async () => await handle(dependencies, request, reply, admission));
      return reply;
    },
  };
}

async function handle(
  dependencies: OverlayDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  admitted: Admitted,
): Promise<void> {
  const { workArea, shutdown, refusals, metrics } = dependencies;
  const record = recordOf(request);
  // Credits are charged after the last byte, and the log line has their number.
  const endRecord = record.hold();
  record.credits = 0;
  record.begin('receive');
  const lifetime = createRequestSignal(reply.raw, shutdown);
  const directory = workArea.lazyDirectory(randomUUID());
  const context: OverlayContext = {
    ...admitted,
    request,
    reply,
    directory,
    lifetime,
    type: 'none',
    isReserved: false,
  };
  let outcome = 'delivered';
  try {
    await overlayHandler(dependencies, context);
    // The render itself is counted when it ends.
    if (reply.statusCode === 202) outcome = 'accepted';
  } catch (error) {
    outcome = outcomeOf(error);
    record.error = toAppError(error);
    // Once credits are reserved, the ledger records how the request ended.
    if (!context.isReserved) refusals.add(admitted.caller, error);
    throw error;
  } finally {
    lifetime.release();
    metrics.requestEnded(context.type, outcome, reply.elapsedTime / 1_000);
    if (context.type !== 'none') record.sourceType = context.type;
    endRecord();
    await directory.remove();
  }
}
