// The steps of an admitted request, from top to bottom:
// receive -> read -> resolve names -> parse -> idempotency -> fetch -> the steps of every render, in renders/perform-render.ts -> send or store
// An asynchronous request ends after `parse`. Its render is stored, and the runner takes the other steps.

import { asAppError } from '../../../shared/errors.ts';
import { asyncLimits, type PlanLimits } from '../../account/plans.ts';
import type { SavedStyles } from '../../brand/saved-styles.ts';
import type { Lease, LeaseRequest, Renderer } from '../../dispatch/renderer.ts';
import type { AssetFetcher } from '../../fetch/asset-fetcher.ts';
import { workerKindFor } from '../../../engine/media/asset.ts';
import type { AssetKind } from '../../../engine/media/sniff.ts';
import type { RenderAcceptor } from '../../renders/accept.ts';
import { recordOf } from '../transport/request-record.ts';
import { type CallerUrlRule, urlPolicyFor } from '../../renders/caller-url-rule.ts';
import { type AccountServices, accountOrder, type LogoImages, logWarnings } from '../../renders/account-order.ts';
import { sendAccepted, sendDelivered, sendRender } from '../renders/render-replies.ts';
import { type DeliverDependencies, deliverFile, deliverLink, deliverPut } from './deliver.ts';
import { assertSameAsset, fetchAsset } from '../../renders/fetch-asset.ts';
import { type IdempotencyKeys, type IdempotentRequest, type Replay, REPLAYED } from '../../renders/idempotency.ts';
import type { OverlayContext } from './overlay-context.ts';
import {
  assertWebhookFits,
  type ParsedRequest,
  parseRequest,
  readForm,
  requestTypeOf,
  type UnfetchedRequest,
} from '../../renders/parse.ts';
import type { ReadRequest } from '../../renders/received-form.ts';
import { type ReceiveDependencies, receive, type Upload } from './receive.ts';
import { performRender } from '../../renders/perform-render.ts';

export interface HandlerDependencies extends ReceiveDependencies, AccountServices, DeliverDependencies, CallerUrlRule {
  readonly idempotency: IdempotencyKeys;
  readonly styles: Pick<SavedStyles, 'resolve'>;
  readonly logos: LogoImages;
  readonly fetcher: AssetFetcher;
  readonly acceptor: RenderAcceptor;
  readonly renderer: Renderer;
  readonly deadlineMs: Readonly<Record<AssetKind, number>>;
}

export async function overlayHandler(dependencies: HandlerDependencies, context: OverlayContext): Promise<void> {
  if (context.prefersAsync) {
    // An asynchronous render waits for its turn, however long the queue is.
    const upload = await receiveUpload(dependencies, context, undefined);
    await accept(dependencies, context, upload, await parse(dependencies, context, upload));
    return;
  }
  const lease = dependencies.renderer.open(leaseRequestOf(dependencies, context));
  try {
    const upload = await receiveUpload(dependencies, context, lease);
    const sent = await parse(dependencies, context, upload);
    if (sent.parsed.delivery.isAsync) await accept(dependencies, context, upload, sent);
    else await replayOrRender(dependencies, context, { upload, ...sent, lease });
  } finally {
    lease.close();
  }
}

function leaseRequestOf(
  { deadlineMs }: HandlerDependencies,
  { caller, request, lifetime }: OverlayContext,
): LeaseRequest {
  const record = recordOf(request);
  return {
    account: caller.accountId,
    class: 'interactive',
    budgetMs: deadlineMs,
    signal: lifetime.signal,
    renderId: request.id,
    onAssigned: (worker, step) => record.assign(worker, step),
  };
}

/** With a lease, the upload ends early when the queue for its kind is full. */
async function receiveUpload(
  dependencies: HandlerDependencies,
  context: OverlayContext,
  lease: Lease | undefined,
): Promise<Upload> {
  const { limits } = context.caller.plan;
  return await receive(dependencies, context, lease ? limits : asyncLimits(limits), {
    hash: context.idempotencyKey !== undefined,
    isAsync: lease === undefined,
    onKind: (kind) => lease?.choose(kind),
  });
}

interface SentRequest {
  /** The values of the fields, which an idempotency key compares. */
  readonly read: ReadRequest;
  readonly parsed: ParsedRequest | UnfetchedRequest;
}

/** Names of saved styles end here. */
async function parse(dependencies: HandlerDependencies, context: OverlayContext, upload: Upload): Promise<SentRequest> {
  const { fetcher, styles } = dependencies;
  const { caller } = context;
  const read = await styles.resolve(caller.accountId, readForm(upload));
  const parsed = await parseRequest(read, await urlPolicyFor(dependencies, caller, fetcher.policy, [read]));
  context.type = requestTypeOf(parsed);
  dependencies.speechCaptions.assertAvailable(caller, parsed);
  return { read, parsed };
}

async function accept(
  { acceptor, links }: HandlerDependencies,
  { caller, idempotencyKey, request, reply, lifetime: { signal } }: OverlayContext,
  { asset }: Upload,
  sent: SentRequest,
): Promise<void> {
  links.assertAsyncAvailable(request);
  await asset?.save?.();
  const accepted = await acceptor.accept({ renderId: request.id, caller, idempotencyKey, ...sent, signal });
  sendAccepted(reply, { ...accepted, baseUrl: links.baseUrlFor(request) });
}

interface WaitingRequest extends SentRequest {
  readonly upload: Upload;
  readonly lease: Lease;
}

async function replayOrRender(
  dependencies: HandlerDependencies,
  context: OverlayContext,
  waiting: WaitingRequest,
): Promise<void> {
  const { caller, idempotencyKey, request, directory, lifetime } = context;
  const { links, idempotency } = dependencies;
  const { read, parsed } = waiting;
  assertWebhookFits(parsed);
  if (parsed.delivery.isLink) links.assertAvailable(request);
  if (parsed.delivery.put) links.assertPutAvailable(request);
  const claim = await idempotency.claim({
    key: idempotencyKey,
    caller,
    read,
    renderId: request.id,
    directory,
    signal: lifetime.signal,
  });
  if (claim.refusal) {
    context.reply.headers(REPLAYED);
    throw claim.refusal;
  }
  if (claim.replay && (await replay(dependencies, context, claim.replay, parsed))) return;
  try {
    await fetchAndRender(dependencies, context, waiting, claim);
  } catch (error) {
    await claim.abandon();
    throw error;
  }
}

/** Responds with what the first request got. False when that is gone, so that it has to be rendered again. */
async function replay(
  { results, links, sender }: HandlerDependencies,
  { caller, request, reply }: OverlayContext,
  first: Replay,
  { delivery }: ParsedRequest | UnfetchedRequest,
): Promise<boolean> {
  if (delivery.put || delivery.isLink) {
    const render = await results.find(caller, first.renderId);
    const send = delivery.put ? sendDelivered : sendRender;
    if (render) send(reply, { render, isReplay: true, baseUrl: links.baseUrlFor(request) });
    return render !== undefined;
  }
  const file = await first.restore();
  if (file !== undefined) await sender.send(reply, file, { ...first.headers, ...REPLAYED });
  return file !== undefined;
}

async function fetchAndRender(
  dependencies: HandlerDependencies,
  context: OverlayContext,
  { upload, parsed, lease }: WaitingRequest,
  claim: IdempotentRequest,
): Promise<void> {
  const { caller, request, lifetime, directory } = context;
  const { isLink, put } = parsed.delivery;
  if (isLink || put) await dependencies.results.assertRoom(caller, 1, 'request');
  // From here on nothing depends on the client. The file is saved or fetched while the request waits for its turn.
  if ('asset' in parsed && parsed.asset) lease.enter(workerKindFor(parsed.asset));
  await upload.asset?.save?.();
  const ready = await fetchAsset(dependencies.fetcher, parsed, upload, lifetime.signal);
  context.type = requestTypeOf(ready);
  assertSameAsset(claim, 'assetUrl' in parsed, ready.asset?.sha256);
  lifetime.startDeadline(dependencies.deadlineMs[ready.output.clip ? 'video' : (ready.asset?.kind ?? 'image')]);
  const record = recordOf(request);
  const isReplay = claim.replay !== undefined;
  const logo = await dependencies.logos.load(caller.accountId, ready.logo);
  const paying = { renderId: request.id, caller, limits: waitingLimits(dependencies, context), isReplay, logo };
  const order = accountOrder(dependencies, ready, paying);
  await performRender({
    ...order,
    renderId: claim.replay?.renderId ?? request.id,
    lease,
    directory,
    signal: lifetime.signal,
    receiveMs: upload.receiveMs,
    keepsCaptions: parsed.delivery.isLink,
    reserve: async (base, recipe) => {
      const reservation = await order.reserve(base, recipe);
      context.isReserved = true;
      const release: typeof reservation.release = async (error, durationMs) => {
        const refusal = asAppError(error);
        await reservation.release(error, durationMs, claim.rememberRefusal(refusal));
        if (refusal.isCharged) context.reply.header('x-credits-charged', String(reservation.credits));
      };
      return { ...reservation, release };
    },
    onStep: (step) => record.begin(step),
    onProgress: (fraction) => {
      record.progress = fraction;
    },
    deliver: async (finished, reservation) => {
      record.timings = finished.facts.timings;
      upload.disk.addResult(finished.bytes);
      logWarnings(dependencies, paying, finished);
      const remembered = claim.remember(finished.headers, ready.asset?.sha256);
      const delivery = { upload, parsed: ready, finished, reservation, remembered, claim };
      const deliver = put ? deliverPut : isLink ? deliverLink : deliverFile;
      await deliver(dependencies, context, delivery);
    },
  });
}

/** An error about a limit advises an asynchronous request only where there are any. */
function waitingLimits({ links }: HandlerDependencies, { caller, request }: OverlayContext): PlanLimits {
  const { limits } = caller.plan;
  return links.isAsyncAvailable(request) ? limits : { ...limits, asyncVideoSeconds: 0 };
}
