// The last steps of a request: sends the finished file, or a link to it, and charges for it.

import type { FastifyRequest } from 'fastify';
import { must } from '../../../shared/must.ts';
import type { Remembered } from '../../store/ledger/holds.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Marketplace } from '../access/marketplace.ts';
import type { ResultLinks } from '../renders/result-links.ts';
import type { RenderRunner } from '../../renders/render-runner.ts';
import { sendDelivered, sendRender } from '../renders/render-replies.ts';
import { recordOf } from '../transport/request-record.ts';
import { type IdempotentRequest, REPLAYED } from '../../renders/idempotency.ts';
import type { OverlayContext } from './overlay-context.ts';
import type { Reservation } from '../../renders/reserve.ts';
import { DeliveryBroken } from '../../renders/delivery-broken.ts';
import type { FileSender } from './file-sender.ts';
import type { Upload } from './receive.ts';
import type { ParsedRequest } from '../../renders/parse.ts';
import type { StoredResults } from '../../renders/stored-results.ts';
import type { FinishedRender } from '../../renders/perform-render.ts';

export interface DeliverDependencies {
  readonly sender: FileSender;
  readonly marketplace: Marketplace;
  readonly metrics: Metrics;
  readonly results: StoredResults;
  readonly links: ResultLinks;
  readonly runner: Pick<RenderRunner, 'wake' | 'waitForEnd'>;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
}

/** How long a request waits for the delivery of its file. Afterwards it goes on like an asynchronous one. */
const PUT_WAIT_SECONDS = 120;

/** A finished render of a request that waits. */
export interface RequestDelivery {
  readonly upload: Upload;
  readonly parsed: ParsedRequest;
  readonly finished: FinishedRender;
  readonly reservation: Reservation;
  /** The result for the next request with the same idempotency key. */
  readonly remembered: Remembered | undefined;
  readonly claim: IdempotentRequest;
}

/** Delivers with `deliver=url`: the result is stored and charged before the response, which has a link to it. */
export async function deliverLink(
  { results, links, marketplace, metrics }: DeliverDependencies,
  { caller, request, reply, lifetime }: OverlayContext,
  { parsed, finished, reservation, remembered }: RequestDelivery,
): Promise<void> {
  const record = recordOf(request);
  record.begin('deliver');
  const { credits } = reservation;
  const result = { renderId: request.id, caller, finished, credits, parsed, remembered };
  const render = await results.add(result, lifetime.signal);
  await reservation.endWithResult();
  reply.headers(billingHeaders(marketplace, request, reservation));
  sendRender(reply, { render, isReplay: false, baseUrl: links.baseUrlFor(request) });
  metrics.charged(credits);
  record.credits = credits;
}

/**
 * Delivers with `put_url`: the stored render takes the reservation over and is sent by the runner, which goes on if the client
 * leaves or the server dies. The response says how that ended.
 */
export async function deliverPut(
  { results, links, runner, marketplace, shutdown }: DeliverDependencies,
  { caller, request, reply, lifetime }: OverlayContext,
  { parsed, finished, reservation, remembered }: RequestDelivery,
): Promise<void> {
  const record = recordOf(request);
  record.begin('deliver');
  const { credits } = reservation;
  const result = { renderId: request.id, caller, finished, credits, parsed, remembered };
  await results.add(result, lifetime.signal);
  await reservation.handOver();
  runner.wake();
  const isOver = (): boolean => shutdown.aborted || reply.raw.destroyed;
  const wait = { id: request.id, waitSeconds: PUT_WAIT_SECONDS, isOver };
  const render = must(await runner.waitForEnd({ accountId: caller.accountId }, wait), 'the stored render');
  record.credits = render.credits ?? 0;
  reply.headers(billingHeaders(marketplace, request, { ...reservation, credits: record.credits }));
  sendDelivered(reply, { render, isReplay: false, baseUrl: links.baseUrlFor(request) });
}

/** Charges after the last byte has been sent, or if `breakOff` says so. Nothing after `send` may fail. */
export async function deliverFile(
  { sender, marketplace, metrics }: DeliverDependencies,
  { request, reply }: OverlayContext,
  { finished, reservation, remembered, claim }: RequestDelivery,
): Promise<void> {
  const { file, headers, durationMs } = finished;
  const billing = billingHeaders(marketplace, request, reservation);
  const replayed = claim.replay ? REPLAYED : {};
  const endDelivery = claim.startDelivery();
  const record = recordOf(request);
  try {
    record.begin('deliver');
    await sender.send(reply, file, { ...headers, ...billing, ...replayed });
    await claim.keep(file);
    await reservation.settle(durationMs, remembered);
    metrics.charged(reservation.credits);
    record.credits = reservation.credits;
  } catch (error) {
    if (!(error instanceof DeliveryBroken)) throw error;
    const isCharged = await reservation.breakOff(error, durationMs, remembered);
    metrics.deliveryBroken(isCharged);
    if (isCharged) {
      await claim.keep(file);
      metrics.charged(reservation.credits);
      record.credits = reservation.credits;
    }
    throw error;
  } finally {
    endDelivery();
  }
}

/** Returns the headers about the price. */
function billingHeaders(
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
