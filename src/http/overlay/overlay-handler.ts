// What happens to an admitted request, from top to bottom:
//
//   receive -> parse -> idempotency -> fetch -> probe -> compose -> reserve -> render -> send -> settle or release

import { statSync } from 'node:fs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { priceOf } from '../../account/pricing.ts';
import type { Renderer, RenderJob, Requester } from '../../dispatch/renderer.ts';
import { AppError } from '../../errors.ts';
import type { AssetKind } from '../../media/sniff.ts';
import type { LazyDirectory } from '../../media/work-area.ts';
import { type BaseLayer, composeRecipe, outputFormatOf, type RenderRecipe } from '../../render/compose.ts';
import type { RenderFacts } from '../../render/render.ts';
import { mediaWarnings, uniqueWarnings } from '../../render/warnings.ts';
import type { Remembered } from '../../store/store.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics, RequestType } from '../../telemetry/metrics.ts';
import type { Marketplace } from '../access/marketplace.ts';
import type { AssetFetcher } from '../fetch/asset-fetcher.ts';
import { recordOf } from '../transport/request-record.ts';
import type { RequestSignal } from '../transport/request-signal.ts';
import type { Admitted } from './admit.ts';
import { fetchAsset } from './fetch-asset.ts';
import type { IdempotencyKeys, IdempotentRequest } from './idempotency.ts';
import { type ParsedRequest, parseRequest, type UnfetchedRequest } from './parse.ts';
import { receive, type ReceiveDependencies, type Upload } from './receive.ts';
import { outcomeOf } from './refusals.ts';
import type { CreditReservations, Reservation } from './reserve.ts';
import { DeliveryBroken, type FileSender, renderHeaders } from './send.ts';
import { assertNoWarnings, layoutOf } from './strict.ts';

export interface HandlerDependencies extends ReceiveDependencies {
  readonly idempotency: IdempotencyKeys;
  readonly reservations: CreditReservations;
  readonly fetcher: AssetFetcher;
  readonly renderer: Renderer;
  readonly sender: FileSender;
  readonly marketplace: Marketplace;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly deadlineMs: Readonly<Record<AssetKind, number>>;
}

const REPLAYED = { 'idempotency-replayed': 'true' };

/** What the steps of one request share. */
export interface OverlayContext extends Admitted {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly directory: LazyDirectory;
  readonly lifetime: RequestSignal;
  type: RequestType;
  isReserved: boolean;
}

export async function overlayHandler(dependencies: HandlerDependencies, context: OverlayContext): Promise<void> {
  const { caller, idempotencyKey, request, reply, directory, lifetime } = context;
  const upload = await receive(dependencies, context, caller.plan.limits, {
    hash: idempotencyKey !== undefined,
    assertRoom: (kind) => dependencies.renderer.assertRoom(caller.accountId, kind),
  });
  const parsed = parseRequest(upload, dependencies.fetcher.policy);
  context.type = typeOf(parsed);
  const claim = await dependencies.idempotency.claim(caller, idempotencyKey, upload, request.id, directory);
  if (claim.replay?.file !== undefined) {
    await dependencies.sender.send(reply, claim.replay.file, { ...claim.replay.headers, ...REPLAYED });
    return;
  }
  try {
    const ready = await fetchAsset(dependencies.fetcher, parsed, upload, lifetime.signal);
    context.type = typeOf(ready);
    assertSameAsset(claim, 'assetUrl' in parsed, ready.asset?.sha256);
    await renderAndDeliver(dependencies, context, upload, ready, claim);
  } catch (error) {
    await claim.abandon();
    throw error;
  }
}

/** A repeated request is free, so a URL must still return the file that was paid for. An upload is part of the fingerprint. */
function assertSameAsset({ replay }: IdempotentRequest, isFetched: boolean, sha256: string | undefined): void {
  if (!isFetched || replay === undefined || replay.sha256 === sha256) return;
  throw new AppError('idempotency_mismatch', 'The file behind asset_url has changed since the first request.');
}

/** Unknown until a URL has been fetched. */
function typeOf(request: ParsedRequest | UnfetchedRequest): RequestType {
  return 'assetUrl' in request ? 'none' : (request.asset?.kind ?? 'overlay');
}

async function renderAndDeliver(
  dependencies: HandlerDependencies,
  context: OverlayContext,
  upload: Upload,
  parsed: ParsedRequest,
  claim: IdempotentRequest,
): Promise<void> {
  const { renderer, deadlineMs } = dependencies;
  const { caller, request, lifetime } = context;
  const { asset } = parsed;
  const started = performance.now();
  const budgetMs = deadlineMs[asset?.kind ?? 'image'];
  const requester = requesterOf(context, budgetMs, asset ? 'probe' : 'render');
  lifetime.startDeadline(budgetMs);
  if (asset) recordOf(request).begin('queue');

  // A damaged asset is refused before credits are checked.
  const base: BaseLayer = parsed.asset
    ? await renderer.probe(parsed.asset, caller.plan.limits, lifetime.signal, requester)
    : parsed.canvas;
  const plan = { parsed, base, requester, claim };
  const { recipe, reservation } = await composeAndReserve(dependencies, context, plan).catch((error: unknown) => {
    if (asset) renderer.refund(asset, requester);
    throw error;
  });
  context.isReserved = true;
  try {
    const { output, facts } = await render(dependencies, context, { recipe, asset, requester });
    upload.disk.addResult(statSync(output).size);
    const renderMs = performance.now() - started;
    const renderId = claim.replay?.renderId ?? request.id;
    const timing = { receiveMs: upload.receiveMs, renderMs };
    const headers = renderHeaders({
      renderId,
      kind: asset?.kind ?? 'image',
      format: outputFormatOf(recipe),
      facts,
      ...timing,
    });
    await deliver(dependencies, context, {
      output,
      headers,
      renderMs,
      reservation,
      remembered: claim.remember(headers, asset?.sha256),
      claim,
    });
  } catch (error) {
    // A broken delivery has ended the reservation already.
    if (!(error instanceof DeliveryBroken)) await reservation.release(outcomeOf(error), performance.now() - started);
    throw error;
  }
}

function requesterOf({ caller, request }: OverlayContext, budgetMs: number, firstStep: 'probe' | 'render'): Requester {
  const onAssigned = (worker: string): void => recordOf(request).assign(worker, firstStep);
  return { account: caller.accountId, budgetMs, renderId: request.id, onAssigned };
}

interface Plan {
  readonly parsed: ParsedRequest;
  readonly base: BaseLayer;
  readonly requester: Requester;
  readonly claim: IdempotentRequest;
}

async function composeAndReserve(
  { renderer, reservations }: HandlerDependencies,
  { caller, request, directory, lifetime }: OverlayContext,
  { parsed, base, requester, claim }: Plan,
): Promise<{ recipe: RenderRecipe; reservation: Reservation }> {
  const { asset, overlays, output } = parsed;
  const recipe = composeRecipe(base, overlays, caller.plan.limits, { output, watermark: caller.mode === 'test' });
  if (parsed.strict) {
    const { lastFrame } = recipe;
    const work = { renderer, directory, signal: lifetime.signal, requester, lastFrame };
    assertNoWarnings(await layoutOf(base, overlays, work));
  }
  // An asset has waited for its worker before the probe. Without one, a full queue is noticed here, before the ledger.
  if (!asset) renderer.assertRoom(caller.accountId, 'image');
  recordOf(request).begin('reserve');
  const reservation = await reservations.reserve(caller, {
    renderId: request.id,
    kind: asset?.kind ?? 'overlay',
    credits: priceOf(base, { mode: caller.mode, isReplay: claim.replay !== undefined }),
  });
  return { recipe, reservation };
}

async function render(
  { renderer, logger }: HandlerDependencies,
  { caller, request, directory, lifetime }: OverlayContext,
  { recipe, asset, requester }: Pick<RenderJob, 'recipe' | 'asset'> & Pick<Plan, 'requester'>,
): Promise<{ output: string; facts: RenderFacts }> {
  await directory.make();
  const output = directory.file('output');
  const record = recordOf(request);
  record.begin(asset ? 'render' : 'queue');
  const rendered = await renderer.render({ recipe, asset, output }, lifetime.signal, requester);
  record.timings = rendered.timings;
  lifetime.signal.throwIfAborted();
  const warnings = uniqueWarnings([...rendered.warnings, ...mediaWarnings(recipe)]);
  if (warnings.length > 0) {
    const entry = { renderId: request.id, accountId: caller.accountId, warnings };
    logger.info(entry, 'render completed with warnings');
  }
  return { output, facts: { ...rendered, warnings } };
}

interface Delivery {
  readonly output: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly renderMs: number;
  readonly reservation: Reservation;
  /** For the next request with the same idempotency key. */
  readonly remembered: Remembered | undefined;
  readonly claim: IdempotentRequest;
}

/** Charges after the last byte has been sent, or if `breakOff` says so. Nothing after `send` may fail. */
async function deliver(
  { sender, marketplace, metrics }: HandlerDependencies,
  { request, reply }: OverlayContext,
  { output, headers, renderMs, reservation, remembered, claim }: Delivery,
): Promise<void> {
  const billing = {
    'x-credits-charged': String(reservation.credits),
    'x-credits-remaining': String(reservation.remaining),
    ...(marketplace.isClaimed(request.headers) && {
      [marketplace.billingHeader]: `Credits=${reservation.credits}`,
    }),
  };
  const replayed = claim.replay ? REPLAYED : {};
  const endDelivery = claim.startDelivery();
  try {
    recordOf(request).begin('deliver');
    await sender.send(reply, output, { ...headers, ...billing, ...replayed });
    await claim.keep(output);
    await reservation.settle(renderMs, remembered);
    metrics.charged(reservation.credits);
    recordOf(request).credits = reservation.credits;
  } catch (error) {
    if (!(error instanceof DeliveryBroken)) throw error;
    const isCharged = await reservation.breakOff(error, renderMs, remembered);
    metrics.deliveryBroken(isCharged);
    if (isCharged) {
      await claim.keep(output);
      metrics.charged(reservation.credits);
      recordOf(request).credits = reservation.credits;
    }
    throw error;
  } finally {
    endDelivery();
  }
}
