// What happens to an admitted request, from top to bottom:
//
//   receive -> parse -> idempotency -> fetch -> probe -> compose -> reserve -> render -> send -> settle or release
//
// An asynchronous request ends after `parse`: its render is stored, and `http/renders/` takes the other steps.

import { statSync } from 'node:fs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { asyncLimits } from '../../account/plans.ts';
import type { Requester } from '../../dispatch/renderer.ts';
import { AppError } from '../../errors.ts';
import type { AssetKind } from '../../media/sniff.ts';
import type { LazyDirectory } from '../../media/work-area.ts';
import type { Remembered } from '../../store/store.ts';
import type { Metrics, RequestType } from '../../telemetry/metrics.ts';
import type { Marketplace } from '../access/marketplace.ts';
import type { AssetFetcher } from '../fetch/asset-fetcher.ts';
import type { RenderAcceptor } from '../renders/accept.ts';
import type { FinishedRequest, LinkDelivery } from '../renders/link-delivery.ts';
import { recordOf } from '../transport/request-record.ts';
import type { RequestSignal } from '../transport/request-signal.ts';
import type { Admitted } from './admit.ts';
import { fetchAsset } from './fetch-asset.ts';
import type { IdempotencyKeys, IdempotentRequest } from './idempotency.ts';
import { type ParsedRequest, parseRequest, type UnfetchedRequest } from './parse.ts';
import { receive, type ReceiveDependencies, type Upload } from './receive.ts';
import { outcomeOf } from './refusals.ts';
import { describeRender, executeRender, prepareRender, type RenderRun, type StepDependencies } from './render-steps.ts';
import type { Reservation } from './reserve.ts';
import { DeliveryBroken, type FileSender } from './send.ts';

export interface HandlerDependencies extends ReceiveDependencies, StepDependencies {
  readonly idempotency: IdempotencyKeys;
  readonly fetcher: AssetFetcher;
  readonly sender: FileSender;
  readonly marketplace: Marketplace;
  readonly metrics: Metrics;
  readonly acceptor: RenderAcceptor;
  readonly links: LinkDelivery;
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
  const { caller, idempotencyKey, prefersAsync, request, reply, directory } = context;
  const { limits } = caller.plan;
  const upload = await receive(dependencies, context, prefersAsync ? asyncLimits(limits) : limits, {
    hash: idempotencyKey !== undefined,
    isAsync: prefersAsync,
    // An asynchronous render waits for its turn, however long the queue is.
    assertRoom: (kind) => (prefersAsync ? undefined : dependencies.renderer.assertRoom(caller.accountId, kind)),
  });
  const parsed = parseRequest(upload, dependencies.fetcher.policy);
  context.type = typeOf(parsed);
  if (prefersAsync || parsed.delivery.isAsync) {
    await dependencies.acceptor.accept(context, upload, parsed);
    return;
  }
  if (parsed.delivery.isLink) dependencies.links.assertAvailable(caller, request);
  const claim = await dependencies.idempotency.claim(caller, idempotencyKey, upload, request.id, directory);
  if (claim.replay && parsed.delivery.isLink && (await dependencies.links.replay(context, claim.replay.renderId)))
    return;
  if (claim.replay?.file !== undefined && !parsed.delivery.isLink) {
    await dependencies.sender.send(reply, claim.replay.file, { ...claim.replay.headers, ...REPLAYED });
    return;
  }
  await fetchAndRender(dependencies, context, { upload, parsed, claim });
}

interface Claimed {
  readonly upload: Upload;
  readonly parsed: ParsedRequest | UnfetchedRequest;
  readonly claim: IdempotentRequest;
}

async function fetchAndRender(
  dependencies: HandlerDependencies,
  context: OverlayContext,
  { upload, parsed, claim }: Claimed,
): Promise<void> {
  try {
    if (parsed.delivery.isLink) await dependencies.links.assertRoom(context.caller);
    const ready = await fetchAsset(dependencies.fetcher, parsed, upload, context.lifetime.signal);
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
  const { asset } = parsed;
  const started = performance.now();
  const budgetMs = dependencies.deadlineMs[asset?.kind ?? 'image'];
  context.lifetime.startDeadline(budgetMs);
  const run = runOf(context, claim, requesterOf(context, budgetMs, asset ? 'probe' : 'render'));
  const prepared = await prepareRender(dependencies, run, parsed);
  const { reservation } = prepared;
  context.isReserved = true;
  try {
    const finished = await executeRender(dependencies, run, prepared);
    const { output, facts } = finished;
    recordOf(context.request).timings = facts.timings;
    upload.disk.addResult(statSync(output).size);
    const renderMs = performance.now() - started;
    const renderId = claim.replay?.renderId ?? context.request.id;
    const headers = describeRender(prepared, finished, { renderId, receiveMs: upload.receiveMs, renderMs });
    const remembered = claim.remember(headers, asset?.sha256);
    if (parsed.delivery.isLink) {
      await deliverLink(dependencies, context, { upload, prepared, finished, headers, renderMs, remembered });
    } else await deliver(dependencies, context, { output, headers, renderMs, reservation, remembered, claim });
  } catch (error) {
    // A broken delivery has ended the reservation already.
    if (!(error instanceof DeliveryBroken)) await reservation.release(outcomeOf(error), performance.now() - started);
    throw error;
  }
}

function runOf(
  { caller, request, directory, lifetime }: OverlayContext,
  claim: IdempotentRequest,
  requester: Requester,
): RenderRun {
  return {
    renderId: request.id,
    caller,
    limits: caller.plan.limits,
    directory,
    signal: lifetime.signal,
    requester,
    isReplay: claim.replay !== undefined,
    onStep: (step) => recordOf(request).begin(step),
  };
}

function requesterOf({ caller, request }: OverlayContext, budgetMs: number, firstStep: 'probe' | 'render'): Requester {
  const onAssigned = (worker: string): void => recordOf(request).assign(worker, firstStep);
  return { account: caller.accountId, budgetMs, renderId: request.id, onAssigned };
}

/** `deliver=url`: the result is stored and charged before the response, which has a link to it. */
async function deliverLink(
  { links, metrics }: HandlerDependencies,
  context: OverlayContext,
  finished: FinishedRequest,
): Promise<void> {
  const { request } = context;
  recordOf(request).begin('deliver');
  await links.deliver(context, finished);
  metrics.charged(finished.prepared.reservation.credits);
  recordOf(request).credits = finished.prepared.reservation.credits;
}

interface ByteDelivery {
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
  { output, headers, renderMs, reservation, remembered, claim }: ByteDelivery,
): Promise<void> {
  const billing = billingHeaders(marketplace, request, reservation);
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

/** What the response says about its price. */
export function billingHeaders(
  marketplace: Marketplace,
  request: FastifyRequest,
  { credits, remaining }: Pick<Reservation, 'credits' | 'remaining'>,
): Record<string, string> {
  return {
    'x-credits-charged': String(credits),
    'x-credits-remaining': String(remaining),
    ...(marketplace.isClaimed(request.headers) && { [marketplace.billingHeader]: `Credits=${credits}` }),
  };
}
