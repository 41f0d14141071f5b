// Renders for the playground, without a key and without credits: watermarked, of a limited size and limited per address.
// Videos need a key and go to the API.

import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GUEST_MAX_SIDE, PREVIEWS_PER_RENDER } from '../account/guest.ts';
import type { PlanLimits } from '../account/plans.ts';
import { ANONYMOUS, type Renderer } from '../dispatch/renderer.ts';
import { AppError, type FieldFault } from '../errors.ts';
import { KIND_OF_FORMAT } from '../media/sniff.ts';
import { composeRecipe, outputFormatOf } from '../render/compose.ts';
import type { RenderFacts } from '../render/render.ts';
import type { Limits } from '../store/store.ts';
import { AddressLimit, DailyAddressLimit } from './limits/address-limit.ts';
import type { OverlayDependencies } from './overlay/overlay-route.ts';
import type { ReceivedForm } from './overlay/multipart.ts';
import { parseUpload } from './overlay/parse.ts';
import { receive } from './overlay/receive.ts';
import { createRequestSignal } from './transport/request-signal.ts';
import type { RouteGroup } from './route-group.ts';
import { renderHeaders } from './overlay/send.ts';

/** A preview has no asset. This leaves room for the clear error about one. */
const MAX_PREVIEW_BYTES = 64 * 1024;

export interface PlaygroundDependencies
  extends Pick<OverlayDependencies, 'workArea' | 'uploads' | 'sender' | 'deadlineMs' | 'shutdown'> {
  readonly renderer: Pick<Renderer, 'probe' | 'render'>;
  readonly limits: PlanLimits;
  readonly previewsPerMinute: number;
  readonly rendersPerMinute: number;
  readonly rendersPerDay: number;
  /** Shared by all servers. */
  readonly addressLimits: Pick<Limits, 'take'>;
}

type Accept = (form: ReceivedForm) => void;

interface GuestLimits {
  readonly minute: AddressLimit;
  readonly day: DailyAddressLimit;
}

export function playgroundRoutes(dependencies: PlaygroundDependencies): RouteGroup {
  const { addressLimits, rendersPerDay } = dependencies;
  const previews: GuestLimits = {
    minute: new AddressLimit(dependencies.previewsPerMinute),
    day: new DailyAddressLimit(addressLimits, 'previews', rendersPerDay * PREVIEWS_PER_RENDER),
  };
  const renders: GuestLimits = {
    minute: new AddressLimit(dependencies.rendersPerMinute),
    day: new DailyAddressLimit(addressLimits, 'renders', rendersPerDay),
  };
  const handle = playgroundHandler(dependencies);
  const limited = ({ minute, day }: GuestLimits, accept: Accept, maxBytes: number) => ({
    onRequest: async (request: FastifyRequest): Promise<void> => {
      assertOwnPage(request);
      minute.take(request.ip);
      await day.take(request.ip);
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => await handle(request, reply, accept, maxBytes),
  });
  return {
    register: (app) => {
      app.post('/playground/overlay', limited(previews, refuseAsset, MAX_PREVIEW_BYTES));
      app.post('/playground/render', limited(renders, refuseVideo, dependencies.limits.imageBytes));
    },
  };
}

function playgroundHandler(dependencies: PlaygroundDependencies) {
  const { renderer, workArea, sender, deadlineMs, shutdown, limits } = dependencies;
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    accept: Accept,
    maxBytes: number,
  ): Promise<FastifyReply> => {
    const lifetime = createRequestSignal(reply.raw, shutdown);
    const directory = workArea.lazyDirectory(randomUUID());
    try {
      const upload = await receive(
        dependencies,
        { request, reply, directory, lifetime },
        { imageBytes: maxBytes, videoBytes: maxBytes },
        {
          hash: false,
          // Guests have slots of their own, which are limited when they render.
          assertRoom: () => undefined,
        },
      );
      accept(upload);
      const { asset, canvas, overlays, output: requested } = parseUpload(upload);
      // An animation, of which the requested format makes a video.
      if (asset?.kind === 'video') throw videosNeedKey();
      await upload.asset?.save?.();
      const started = performance.now();
      const requester = { ...ANONYMOUS, renderId: request.id };
      lifetime.startDeadline(deadlineMs.image);
      const base = asset ? await renderer.probe(asset, limits, lifetime.signal, requester) : canvas;
      if (base.kind === 'canvas') assertPreviewSize(base);
      const recipe = composeRecipe(base, overlays, limits, {
        output: requested,
        watermark: true,
        maxSide: GUEST_MAX_SIDE,
      });
      await directory.make();
      const output = directory.file('output');
      const facts = await renderer.render({ recipe, asset, output }, lifetime.signal, requester);
      lifetime.signal.throwIfAborted();
      upload.disk.addResult(statSync(output).size);
      const timing = { receiveMs: upload.receiveMs, renderMs: performance.now() - started };
      reply.header('x-bar-rows', barRows(facts));
      const format = outputFormatOf(recipe);
      await sender.send(
        reply,
        output,
        renderHeaders({ renderId: request.id, kind: 'image', format, facts, ...timing }),
      );
      return reply;
    } finally {
      lifetime.release();
      await directory.remove();
    }
  };
}

/** `top+height` of each bar, so that the page can place its handles. */
function barRows({ bars }: RenderFacts): string {
  return bars.map(({ top, height }) => `${top}+${height}`).join(', ');
}

/** Another site must not use up its visitors' allowance. Clients other than browsers don't send the header. */
function assertOwnPage({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new AppError('missing_api_key', 'The playground only serves its own page. Use the API with a key instead.');
}

/** The page scales its previews. An image is scaled down instead. */
function assertPreviewSize(canvas: { readonly width: number; readonly height: number }): void {
  const faults = (['width', 'height'] as const)
    .filter((side) => canvas[side] > GUEST_MAX_SIDE)
    .map((side): FieldFault => {
      const detail = `Without an API key, ${side} must be at most ${GUEST_MAX_SIDE}; got ${canvas[side]}.`;
      return { pointer: `#/${side}`, code: 'out_of_range', detail };
    });
  const [first] = faults;
  if (first) throw new AppError('invalid_fields', first.detail, { faults });
}

function refuseAsset({ hasAsset }: ReceivedForm): void {
  if (!hasAsset) return;
  const fault = {
    pointer: '#/asset',
    code: 'unknown_field',
    detail: 'A preview takes width and height, not an asset.',
  } as const;
  throw new AppError('invalid_fields', fault.detail, { faults: [fault] });
}

function refuseVideo({ asset }: ReceivedForm): void {
  if (asset?.format === undefined || KIND_OF_FORMAT[asset.format] === 'image') return;
  throw videosNeedKey();
}

function videosNeedKey(): AppError {
  return new AppError('missing_api_key', 'Videos need an API key. Send them to /v1/overlay.');
}
