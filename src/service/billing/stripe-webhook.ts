// Events from Stripe: verifies their signature, selects those that matter, and finds their customer. Nothing else in an
// event is used. Events arrive twice, late and in any order, so the current state is read from Stripe instead.

import { Stripe } from 'stripe';
import { AppError } from '../../shared/errors.ts';

/** The events to enable for the endpoint at Stripe. docs/payments.md has the same list. */
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

/** An older signature may be a replay. */
const TOLERANCE_SECONDS = 300;

/** Tries all secrets, because two are valid while one is being replaced. */
export function verifyEvent(rawBody: Buffer, signature: string | undefined, secrets: readonly string[]): Stripe.Event {
  const matching = secrets.filter((secret) => isSignedWith(secret, rawBody, signature ?? ''));
  if (matching.length === 0) throw new AppError('invalid_signature', 'The signature of the event is not valid.');
  const event = JSON.parse(rawBody.toString()) as Stripe.Event;
  // A thin event is signed as well, but doesn't contain its object.
  if (event.object !== 'event')
    throw new AppError(
      'malformed_body',
      'Thin events are not supported. Configure the endpoint to send full (snapshot) events.',
    );
  return event;
}

function isSignedWith(secret: string, rawBody: Buffer, signature: string): boolean {
  try {
    return Stripe.webhooks.signature?.verifyHeader(rawBody, signature, secret, TOLERANCE_SECONDS) === true;
  } catch {
    // The library throws when the signature doesn't match.
    return false;
  }
}

/** Returns undefined for an event that doesn't matter. */
export function customerOfEvent({ type, data }: Stripe.Event): string | undefined {
  if (!EVENTS.has(type)) return undefined;
  const object = data.object as { readonly id?: string; readonly customer?: string | { readonly id: string } | null };
  if (type === 'customer.deleted') return object.id;
  return typeof object.customer === 'object' ? object.customer?.id : object.customer;
}
