// What happens to an admitted request, from top to bottom:
//
//   receive -> parse -> idempotency -> fetch -> probe -> compose -> reserve -> render -> send -> settle or release
//
// An asynchronous request ends after `parse`: its render is stored, and `http/renders/` takes the other steps.

import { statSync } from 'node:fs';
import { asyncLimits } from '../../account/plans.ts';
import type { Requester } from '../../dispatch/renderer.ts';
import { workerKindFor } from '../../media/asset.ts';
import { recordOf } from '../transport/request-record.ts';
import { urlPolicyFor } from '../webhooks/webhook-url-rule.ts';
import { deliver, deliverLink } from './deliver.ts';
import { assertSameAsset, fetchAsset } from './fetch-asset.ts';
import { type IdempotentRequest, REPLAYED } from './idempotency.ts';
import type { HandlerDependencies, OverlayContext } from './overlay-context.ts';
import { assertStored, type ParsedRequest, parseRequest, requestTypeOf, type UnfetchedRequest } from './parse.ts';
import { receive, type Upload } from './receive.ts';
import { outcomeOf } from './refusals.ts';
import { describeRender, executeRender, prepareRender, type RenderRun } from './render-steps.ts';
import { DeliveryBroken } from './send.ts';

export async function overlayHandler(dependencies: HandlerDependencies, context: OverlayContext): Promise<void> {
  const { caller, idempotencyKey, prefersAsync, request, reply, directory } = context;
  const { links } = dependencies;
  const { limits } = caller.plan;
  const upload = await receive(dependencies, context, prefersAsync ? asyncLimits(limits) : limits, {
    hash: idempotencyKey !== undefined,
    isAsync: prefersAsync,
    // An asynchronous render waits for its turn, however long the queue is.
    assertRoom: (kind) => (prefersAsync ? undefined : dependencies.renderer.assertRoom(caller.accountId, kind)),
  });
  const fieldNames = upload.fields.map(({ name }) => name);
  const parsed = parseRequest(
    upload,
    await urlPolicyFor(dependencies.users, caller, dependencies.fetcher.policy, fieldNames),
  );
  context.type = requestTypeOf(parsed);
  if (prefersAsync || parsed.delivery.isAsync) {
    await upload.asset?.save?.();
    await dependencies.acceptor.accept(context, upload, parsed);
    return;
  }
  assertStored(parsed);
  if (parsed.delivery.isLink) links.assertAvailable(request);
  const claim = await dependencies.idempotency.claim(caller, idempotencyKey, upload, request.id, directory);
  if (claim.replay && parsed.delivery.isLink && (await links.replay(context, claim.replay.renderId))) return;
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
  let leavePlace: (() => void) | undefined;
  try {
    if (parsed.delivery.isLink) await dependencies.links.assertRoom(context.caller);
    // From here on nothing depends on the client, so the place is not kept for long.
    if ('asset' in parsed && parsed.asset) {
      leavePlace = dependencies.renderer.expect(context.caller.accountId, workerKindFor(parsed.asset));
    }
    await upload.asset?.save?.();
    const ready = await fetchAsset(dependencies.fetcher, parsed, upload, context.lifetime.signal);
    context.type = requestTypeOf(ready);
    assertSameAsset(claim, 'assetUrl' in parsed, ready.asset?.sha256);
    await renderAndDeliver(dependencies, context, { upload, parsed: ready, claim, leavePlace });
  } catch (error) {
    await claim.abandon();
    throw error;
  } finally {
    leavePlace?.();
  }
}

interface ReadyRequest extends Claimed {
  readonly parsed: ParsedRequest;
  /** Of the place that the queue keeps for the asset. */
  readonly leavePlace: (() => void) | undefined;
}

async function renderAndDeliver(
  dependencies: HandlerDependencies,
  context: OverlayContext,
  { upload, parsed, claim, leavePlace }: ReadyRequest,
): Promise<void> {
  const { asset } = parsed;
  const started = performance.now();
  const budgetMs = dependencies.deadlineMs[asset?.kind ?? 'image'];
  context.lifetime.startDeadline(budgetMs);
  const record = recordOf(context.request);
  const onAssigned = (worker: string): void => record.assign(worker, asset ? 'probe' : 'render');
  const onProgress = (fraction: number): void => {
    record.progress = fraction;
  };
  const run = runOf(context, claim, { budgetMs, onAssigned, onProgress, ...(leavePlace && { leavePlace }) });
  const prepared = await prepareRender(dependencies, run, parsed);
  const { reservation } = prepared;
  context.isReserved = true;
  try {
    const finished = await executeRender(dependencies, run, prepared);
    const { output, facts } = finished;
    record.timings = facts.timings;
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
  requester: Omit<Requester, 'account' | 'renderId'>,
): RenderRun {
  return {
    renderId: request.id,
    caller,
    limits: caller.plan.limits,
    directory,
    signal: lifetime.signal,
    requester: { ...requester, account: caller.accountId, renderId: request.id },
    isReplay: claim.replay !== undefined,
    onStep: (step) => recordOf(request).begin(step),
  };
}
