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
  const fitting = secrets.filter((secret) => isSignedWith(secret, rawBody, signature ?? ''));
  if (fitting.length === 0) throw new AppError('invalid_signature', 'The signature of the event is not valid.');
  const event = JSON.parse(rawBody.toString()) as Stripe.Event;
  // Signed, but without its object: an endpoint that was set up for thin events.
  if (event.object !== 'event') throw new AppError('malformed_body', 'Send events with their whole content.');
  return event;
}

function isSignedWith(secret: string, rawBody: Buffer, signature: string): boolean {
  try {
    return Stripe.webhooks.signature?.verifyHeader(rawBody, signature, secret, TOLERANCE_SECONDS) === true;
  } catch {
    // Whatever the library throws: it says no, with errors of its own kind or, for an empty signature, a plain one.
    return false;
  }
}

/** Undefined for what does not matter here. */
export function customerOfEvent({ type, data }: Stripe.Event): string | undefined {
  if (!EVENTS.has(type)) return undefined;
  const object = data.object as { readonly id?: string; readonly customer?: string | { readonly id: string } | null };
  if (type === 'customer.deleted') return object.id;
  return typeof object.customer === 'object' ? object.customer?.id : object.customer;
}
