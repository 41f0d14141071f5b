// POST /v1/overlay: the whole story of a request, in order.

import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { limitsOf, type PlanLimits } from '../account/plan.ts';
import { type OverlayRequest, parseForm } from '../caption/form.ts';
import type { Renderer, StoredAsset } from '../dispatch/renderer.ts';
import { AppError } from '../errors.ts';
import { KIND_OF_FORMAT } from '../media/sniff.ts';
import type { WorkArea } from '../media/work-area.ts';
import { composeImageRecipe, composeTransparentRecipe, type Recipe } from '../render/recipe.ts';
import type { Authenticator } from './authenticate.ts';
import { receiveForm } from './receive.ts';
import type { ReceivedAsset } from './receive-asset.ts';
import { createRequestSignal } from './request-signal.ts';
import { sendRendered } from './send.ts';

export interface OverlayDependencies {
  readonly authenticator: Authenticator;
  readonly renderer: Renderer;
  readonly workArea: WorkArea;
  readonly deadlineMs: number;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
}

export function overlayHandler(dependencies: OverlayDependencies) {
  const { authenticator, renderer, workArea, deadlineMs, shutdown } = dependencies;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const holder = await authenticator.authenticate(request.headers);
    const limits = limitsOf(holder.plan);
    const life = createRequestSignal(reply.raw, shutdown);
    const directory = await workArea.directory(randomUUID());
    try {
      if (expectsContinue(request)) reply.raw.writeContinue();
      const started = performance.now();
      const form = await receiveForm(request.raw, assetDestination(directory.file('asset'), limits), life.signal);
      const wanted = parseForm(form);
      const asset = form.asset && acceptAsset(form.asset);
      const received = performance.now();
      life.startDeadline(deadlineMs);
      const recipe = await composeRecipe(wanted, asset, limits, renderer, life.signal);
      const output = directory.file('output');
      const facts = await renderer.render({ recipe, asset, output }, life.signal);
      const rendered = { file: output, facts, receiveMs: received - started, renderMs: performance.now() - received };
      await sendRendered(reply, request.id, rendered);
      return reply;
    } finally {
      life.release();
      await directory.remove();
    }
  };
}

async function composeRecipe(
  wanted: OverlayRequest,
  asset: StoredAsset | undefined,
  limits: PlanLimits,
  renderer: Renderer,
  signal: AbortSignal,
): Promise<Recipe> {
  if (asset) return composeImageRecipe(await renderer.probe(asset, signal), wanted.overlays, limits);
  if (wanted.canvas) return composeTransparentRecipe(wanted.canvas, wanted.overlays);
  throw new Error('a form without asset was accepted without a size');
}

function assetDestination(path: string, limits: PlanLimits) {
  return { path, maxBytes: limits.imageBytes, maxBytesOf: () => limits.imageBytes };
}

function acceptAsset({ path, format, bytes }: ReceivedAsset): StoredAsset {
  if (format === undefined) {
    const detail =
      bytes === 0 ? 'The asset is empty.' : 'The asset is not a JPEG, PNG or WebP image, judged by its bytes.';
    throw new AppError('unsupported_asset', detail);
  }
  if (KIND_OF_FORMAT[format] === 'video') {
    throw new AppError('unsupported_asset', 'Video assets are not supported yet. Send a JPEG, PNG or WebP image.');
  }
  return { path, format };
}

function expectsContinue(request: FastifyRequest): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}
