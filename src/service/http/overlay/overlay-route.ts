// The route POST /v1/overlay: admission, then the handler. It counts how every request ended and cleans up after it.
// `overlay-handler.ts` has the steps in between.

import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest, RouteShorthandOptionsWithHandler } from 'fastify';
import { ref } from '../../api/schema-parts.ts';
import type { WorkArea } from '../../../engine/media/work-area.ts';
import { must } from '../../../shared/must.ts';
import { toAppError } from '../error-handler.ts';
import { describeOperations, header, headersOf, json, routesOf } from '../operation.ts';
import { FILE_CONTENT, REQUEST_CONTENT } from '../reference/openapi-form.ts';
import { FILE_HEADERS } from '../reference/response-headers.ts';
import type { RouteGroup } from '../route-group.ts';
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

export const OVERLAY_OPERATIONS = describeOperations(
  { tag: 'Rendering' },
  {
    renderOverlay: {
      route: 'POST /v1/overlay',
      summary: 'Add captions to an image or video, or render them as a transparent image',
      description:
        'Returns the finished file. Nothing is charged unless the whole file was sent. With `deliver=url`, returns the render as ' +
        'JSON with a link to the file; with `prefer: respond-async` or `async`, 202 before the render starts.',
      rate: 'render',
      isIdempotent: true,
      parameters: [
        header(
          'prefer',
          '`respond-async` returns 202 at once; the render continues. Files up to the asynchronous limits are accepted.',
        ),
      ],
      body: { required: true, content: REQUEST_CONTENT },
      success: {
        // Generators that know one type per status prefer `application/json` to any other. With a range of types, the JSON of
        // `deliver=url` comes last, and their clients return the file.
        200: {
          description:
            'The finished file: an MP4 for videos, otherwise an image in the requested format. With `deliver=url` or `put_url`, the render as ' +
            '`application/json`.',
          headers: headersOf([...FILE_HEADERS, 'location']),
          content: { ...FILE_CONTENT, 'application/*': { schema: ref('Render') } },
        },
        202: json('Accepted; see `prefer` and `async`. `location` is where to ask for it.', 'Render', [
          'location',
          'preference-applied',
          'retry-after',
          'idempotency-replayed',
          'x-credits-charged',
          'x-render-id',
        ]),
      },
      stores: 'render',
      errors: [
        'too_many_renders',
        'quota_exceeded',
        'result_expired',
        'asset_too_large',
        'asset_too_many_pixels',
        'asset_dimensions_too_large',
        'asset_too_long',
        'asset_frame_rate_too_high',
        'asset_too_heavy',
        'at_out_of_range',
        'cannot_fit',
        'transcription_disabled',
        'no_sound',
        'no_speech',
        'transcription_failed',
        'unsupported_asset',
        'asset_undecodable',
        'asset_unreachable',
        'strict_warnings',
        'delivery_failed',
        'overloaded',
        'out_of_memory',
        'renderer_unavailable',
        'deadline_exceeded',
      ],
      errorHeaders: ['x-credits-charged', 'x-credits-remaining', 'x-render-id', 'location', 'idempotency-replayed'],
    },
  },
);

export function overlayRoutes(dependencies: OverlayDependencies): RouteGroup {
  return routesOf(OVERLAY_OPERATIONS, () => overlayRoute(dependencies));
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
