// POST /v1/overlay: the whole story of a request, in order.

import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest, RouteShorthandOptionsWithHandler } from 'fastify';
import type { PlanLimits } from '../account/plans.ts';
import { type OverlayRequest, parseForm } from '../caption/form.ts';
import type { Renderer, StoredAsset } from '../dispatch/renderer.ts';
import { AppError } from '../errors.ts';
import { type AssetFormat, type AssetKind, KIND_OF_FORMAT } from '../media/sniff.ts';
import type { WorkArea } from '../media/work-area.ts';
import { composeRecipe, type Ground } from '../render/compose.ts';
import type { Authenticator } from './authenticate.ts';
import type { Caller } from './caller.ts';
import { receiveForm } from './receive.ts';
import type { AssetDestination, ReceivedAsset } from './receive-asset.ts';
import { createRequestSignal } from './request-signal.ts';
import { sendRendered } from './send.ts';

export interface OverlayDependencies {
  readonly authenticator: Authenticator;
  readonly renderer: Renderer;
  readonly workArea: WorkArea;
  readonly deadlineMs: Readonly<Record<AssetKind, number>>;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
}

/** Authenticates first, before the framework has looked at so much as the type of the body; then renders. */
export function overlayRoute(dependencies: OverlayDependencies): RouteShorthandOptionsWithHandler {
  const callers = new WeakMap<FastifyRequest, Caller>();
  const render = overlayHandler(dependencies);
  return {
    onRequest: async (request) => {
      callers.set(request, await dependencies.authenticator.authenticate(request.headers));
    },
    handler: async (request, reply) => {
      const caller = callers.get(request);
      if (caller === undefined) throw new Error('an overlay was asked for without authentication');
      return await render(request, reply, caller.plan.limits);
    },
  };
}

function overlayHandler({ renderer, workArea, deadlineMs, shutdown }: OverlayDependencies) {
  return async (request: FastifyRequest, reply: FastifyReply, limits: PlanLimits): Promise<FastifyReply> => {
    const life = createRequestSignal(reply.raw, shutdown);
    const directory = await workArea.directory(randomUUID()).catch((error: unknown) => {
      life.release();
      throw error;
    });
    try {
      const started = performance.now();
      const destination = assetDestination(directory.file('asset'), limits);
      const form = await receiveForm(request.raw, destination, life.signal, () => inviteBody(request, reply));
      const wanted = parseForm(form);
      const asset = form.asset && acceptAsset(form.asset);
      const kind = asset ? KIND_OF_FORMAT[asset.format] : 'image';
      const received = performance.now();
      life.startDeadline(deadlineMs[kind]);
      const ground = asset ? await renderer.probe(asset, limits, life.signal) : canvasOf(wanted);
      const recipe = composeRecipe(ground, wanted.overlays, limits);
      const output = directory.file('output');
      const facts = await renderer.render({ recipe, asset, output }, life.signal);
      const times = { receiveMs: received - started, renderMs: performance.now() - received };
      await sendRendered(reply, request.id, { file: output, kind, facts, ...times }, shutdown);
      return reply;
    } finally {
      life.release();
      await directory.remove();
    }
  };
}

function canvasOf({ canvas }: OverlayRequest): Ground {
  if (canvas === undefined) throw new Error('a form without asset was accepted without a size');
  return { kind: 'canvas', ...canvas };
}

function assetDestination(path: string, { imageBytes, videoBytes }: PlanLimits): AssetDestination {
  const maxBytesOf = (format: AssetFormat): number => (KIND_OF_FORMAT[format] === 'image' ? imageBytes : videoBytes);
  return { path, maxBytes: Math.max(imageBytes, videoBytes), maxBytesOf };
}

function acceptAsset({ path, format, bytes }: ReceivedAsset): StoredAsset {
  if (format !== undefined) return { path, format };
  const formats = 'JPEG, PNG or WebP image, nor an MP4, MOV or WebM video';
  const detail = bytes === 0 ? 'The asset is empty.' : `The asset, judged by its bytes, is neither a ${formats}.`;
  throw new AppError('unsupported_asset', detail);
}

/** `Expect: 100-continue`: whoever waits for leave to upload gets it once key and size are in order. */
function inviteBody(request: FastifyRequest, reply: FastifyReply): void {
  if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue();
}
