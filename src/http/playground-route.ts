// What the playground asks for: the same renders as the API, without a key and without credits, but few of them. Videos
// are too much to give away; they go to the API with a key.

import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PlanLimits } from '../account/plans.ts';
import { parseForm } from '../caption/form.ts';
import type { Renderer } from '../dispatch/renderer.ts';
import { AppError } from '../errors.ts';
import { KIND_OF_FORMAT } from '../media/sniff.ts';
import { composeTransparentRecipe } from '../render/recipe.ts';
import type { RenderFacts } from '../render/render.ts';
import { AddressLimit } from './limits/address-limit.ts';
import { acceptAsset, announcedBytes, assetDestination, canvasOf, inviteBody } from './overlay/asset.ts';
import type { OverlayDependencies } from './overlay/overlay-route.ts';
import { onClosed } from './transport/on-closed.ts';
import { watchPace } from './transport/pace.ts';
import { type ReceivedForm, receiveForm } from './overlay/receive.ts';
import { createRequestSignal } from './transport/request-signal.ts';
import type { RouteGroup } from './route-group.ts';
import { renderHeaders } from './overlay/send.ts';

export interface PlaygroundDependencies
  extends Pick<OverlayDependencies, 'workArea' | 'uploads' | 'sender' | 'deadlineMs' | 'shutdown'> {
  readonly renderer: Pick<Renderer, 'render' | 'renderImage'>;
  readonly limits: PlanLimits;
  readonly previewsPerMinute: number;
  readonly rendersPerMinute: number;
}

type Accept = (form: ReceivedForm) => void;

export function playgroundRoutes(dependencies: PlaygroundDependencies): RouteGroup {
  const previews = new AddressLimit(dependencies.previewsPerMinute);
  const renders = new AddressLimit(dependencies.rendersPerMinute);
  const handle = playgroundHandler(dependencies);
  const limited = (limit: AddressLimit, accept: Accept) => ({
    onRequest: async (request: FastifyRequest): Promise<void> => {
      assertOwnPage(request);
      limit.take(request.ip);
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => await handle(request, reply, accept),
  });
  return {
    paths: { '/playground/overlay': 'POST', '/playground/render': 'POST' },
    register: (app) => {
      app.post('/playground/overlay', limited(previews, refuseAsset));
      app.post('/playground/render', limited(renders, refuseVideo));
    },
  };
}

function playgroundHandler(dependencies: PlaygroundDependencies) {
  const { renderer, workArea, uploads, sender, deadlineMs, shutdown, limits } = dependencies;
  return async (request: FastifyRequest, reply: FastifyReply, accept: Accept): Promise<FastifyReply> => {
    const life = createRequestSignal(reply.raw, shutdown);
    const directory = await workArea.directory(randomUUID()).catch((error: unknown) => {
      life.release();
      throw error;
    });
    try {
      const started = performance.now();
      const destination = assetDestination(directory.file('asset'), { ...limits, videoBytes: limits.imageBytes });
      onClosed(reply.raw, await uploads.promise(announcedBytes(request, limits)));
      const endWatch = watchPace(request.raw, (reason) => life.giveUp(reason));
      onClosed(reply.raw, endWatch);
      const form = await receiveForm(request.raw, destination, life.signal, () => inviteBody(request, reply));
      endWatch();
      accept(form);
      const wanted = parseForm(form);
      const asset = form.asset && acceptAsset(form.asset);
      const received = performance.now();
      life.startDeadline(deadlineMs.image);
      const output = directory.file('output');
      const { overlays } = wanted;
      const facts = asset
        ? await renderer.renderImage({ draft: { overlays, limits, watermark: false }, asset, output }, life.signal)
        : await renderer.render(
            { recipe: composeTransparentRecipe(canvasOf(wanted), overlays), asset, output },
            life.signal,
          );
      const times = { receiveMs: received - started, renderMs: performance.now() - received };
      reply.header('x-bar-rows', barRows(facts));
      const headers = renderHeaders({ renderId: request.id, kind: 'image', facts, ...times });
      await sender.send(reply, output, headers);
      return reply;
    } finally {
      life.release();
      await directory.remove();
    }
  };
}

/** `top+height` of each bar, so that the page can put its handles on them. */
function barRows({ bars }: RenderFacts): string {
  return bars.map(({ top, height }) => `${top}+${height}`).join(', ');
}

/** Another site's page must not spend its visitors' allowance. What is no browser does not say where it comes from. */
function assertOwnPage({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new AppError('missing_api_key', 'The playground serves its own page. From elsewhere, use the API with a key.');
}

function refuseAsset({ hasAsset }: ReceivedForm): void {
  if (!hasAsset) return;
  const fault = { pointer: '#/asset', code: 'unknown_field', detail: 'A preview takes width and height.' } as const;
  throw new AppError('invalid_fields', fault.detail, { faults: [fault] });
}

function refuseVideo({ asset }: ReceivedForm): void {
  if (asset?.format === undefined || KIND_OF_FORMAT[asset.format] === 'image') return;
  throw new AppError('missing_api_key', 'Videos need an API key: send them to /v1/overlay.');
}
