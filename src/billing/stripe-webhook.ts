// Events of Stripe: who may send them, which ones matter, and whom they are about. What an event says is not used beyond
// that: events come twice, late and in any order, so the present state is asked for instead.

import { Stripe } from 'stripe';
import { AppError } from '../errors.ts';

/** What an endpoint at Stripe has to send; docs/payments.md lists the same. */
export const EVENTS: ReadonlySet<string> = new Set([
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'customer.deleted',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'customer.subscription.pending_update_applied',
  'customer.subscription.pending_update_expired',
  'invoice.paid',
  'invoice.payment_failed',
  'subscription_schedule.updated',
  'subscription_schedule.released',
  'subscription_schedule.canceled',
]);

/** A signature older than this is somebody's replay. */
const TOLERANCE_SECONDS = 300;

/** Several secrets, because there are two while one is replaced. Each is tried, whichever fits. */
export function verifyEvent(rawBody: Buffer, signature: string | undefined, secrets: readonly string[]): Stripe.Event {
  const events = secrets.map((secret) => verifyWith(rawBody, signature ?? '', secret));
  const event = events.find((item) => item !== undefined);
  if (event === undefined) throw new AppError('invalid_signature', 'The signature of the event is not valid.');
  return event;
}

function verifyWith(rawBody: Buffer, signature: string, secret: string): Stripe.Event | undefined {
  try {
    return Stripe.webhooks.constructEvent(rawBody, signature, secret, TOLERANCE_SECONDS);
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError) return undefined;
    // Signed, but of another kind: an endpoint that was set up for thin events.
    throw new AppError('malformed_body', 'The event cannot be read. Send events with their whole content.');
  }
}

/** Undefined for what does not matter here. */
export function customerOfEvent({ type, data }: Stripe.Event): string | undefined {
  if (!EVENTS.has(type)) return undefined;
  const object = data.object as { readonly id?: string; readonly customer?: string | { readonly id: string } | null };
  if (type === 'customer.deleted') return object.id;
  return typeof object.customer === 'object' ? object.customer?.id : object.customer;
}
