// The last steps of a request: sends the finished file, or a link to it, and charges for it.

import type { FastifyRequest } from 'fastify';
import type { Remembered } from '../../store/ledger/holds.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Marketplace } from '../access/marketplace.ts';
import type { LinkDelivery } from '../renders/link-delivery.ts';
import { recordOf } from '../transport/request-record.ts';
import { type IdempotentRequest, REPLAYED } from '../../renders/idempotency.ts';
import type { OverlayContext } from './overlay-context.ts';
import type { Reservation } from '../../renders/reserve.ts';
import { DeliveryBroken } from '../../renders/delivery-broken.ts';
import type { FileSender } from './send.ts';
import type { Upload } from './receive.ts';
import type { FinishedRender } from '../../renders/perform-render.ts';

export interface DeliverDependencies {
  readonly sender: FileSender;
  readonly marketplace: Marketplace;
  readonly metrics: Metrics;
  readonly links: LinkDelivery;
}

/** A finished render of a request that waits. */
export interface RequestDelivery {
  readonly upload: Upload;
  readonly finished: FinishedRender;
  readonly reservation: Reservation;
  /** The result for the next request with the same idempotency key. */
  readonly remembered: Remembered | undefined;
  readonly claim: IdempotentRequest;
}

/** Delivers with `deliver=url`: the result is stored and charged before the response, which has a link to it. */
export async function deliverLink(
  { links, metrics }: DeliverDependencies,
  context: OverlayContext,
  delivery: RequestDelivery,
): Promise<void> {
  const record = recordOf(context.request);
  record.begin('deliver');
  await links.deliver(context, delivery);
  metrics.charged(delivery.reservation.credits);
  record.credits = delivery.reservation.credits;
}

/** Charges after the last byte has been sent, or if `breakOff` says so. Nothing after `send` may fail. */
export async function deliver(
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
