// The last steps of a request: sends the finished file, or a link to it, and charges for it.

import type { FastifyRequest } from 'fastify';
import type { Remembered } from '../../store/store.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Marketplace } from '../access/marketplace.ts';
import type { FinishedRequest, LinkDelivery } from '../renders/link-delivery.ts';
import { recordOf } from '../transport/request-record.ts';
import { type IdempotentRequest, REPLAYED } from './idempotency.ts';
import type { OverlayContext } from './overlay-context.ts';
import type { Reservation } from './reserve.ts';
import { DeliveryBroken, type FileSender } from './send.ts';

export interface DeliverDependencies {
  readonly sender: FileSender;
  readonly marketplace: Marketplace;
  readonly metrics: Metrics;
  readonly links: LinkDelivery;
}

/** `deliver=url`: the result is stored and charged before the response, which has a link to it. */
export async function deliverLink(
  { links, metrics }: DeliverDependencies,
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
export async function deliver(
  { sender, marketplace, metrics }: DeliverDependencies,
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
