// The interface of webhooks: endpoints with their secrets, and deliveries. An event becomes one message, and a delivery for
// each receiver, in one transaction. A server that sends a delivery has a lease on its row, which is longer than any
// attempt, so a crash of the server only delays it.

import { RENDER_EVENTS, type RenderEvent } from '../renders/render.ts';

export const WEBHOOK_EVENTS = RENDER_EVENTS;
export type WebhookEventType = RenderEvent['type'];

/**
 * `user`: a user or an API key disabled it. `gone`: it responded with 410. `failing`: nothing arrived for five days.
 */
export const DISABLED_REASONS = ['user', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

export interface NewWebhookEndpoint {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  /** An empty list means all events. */
  readonly events: readonly WebhookEventType[];
}

/** What changes of an endpoint. What is undefined stays as it is. */
export interface WebhookEndpointChange {
  readonly url?: string | undefined;
  readonly events?: readonly WebhookEventType[] | undefined;
}

export interface WebhookEndpoint {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly events: readonly WebhookEventType[];
  readonly isEnabled: boolean;
  readonly disabledReason: DisabledReason | undefined;
  readonly disabledAt: string | undefined;
  /** The time of the first failed attempt since the last success. */
  readonly failingSince: string | undefined;
  readonly createdAt: string;
}

export interface WebhookSecret {
  readonly secret: string;
  readonly createdAt: string;
  /** Set for a secret that was rotated out. Until this time, webhooks are signed with both. */
  readonly expiresAt: string | undefined;
}

export interface WebhookMessage {
  /** The same for every receiver and every attempt, so receivers can recognize repeated webhooks. */
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const;

export interface WebhookDelivery {
  readonly id: string;
  readonly accountId: string;
  readonly messageId: string;
  readonly type: string;
  /** Undefined for a `webhook_url`. The endpoint may have been deleted. */
  readonly endpointId: string | undefined;
  readonly url: string;
  readonly status: (typeof DELIVERY_STATUSES)[number];
  /** When the next attempt is due, while the delivery is pending. */
  readonly dueAt: string;
  /** Completed attempts since it was created or sent again. */
  readonly attempts: number;
  readonly lastStatus: number | undefined;
  readonly lastError: string | undefined;
  readonly createdAt: string;
  readonly finishedAt: string | undefined;
}

/** One attempt, with as much of the response as is kept. */
export interface WebhookAttempt {
  readonly at: string;
  readonly durationMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Undefined when there was no response. */
  readonly status: number | undefined;
  readonly contentType: string | undefined;
  readonly response: string;
  /** Why the attempt failed. */
  readonly error: string | undefined;
}

export interface DeliveryDetails {
  readonly delivery: WebhookDelivery;
  readonly body: string;
  /** The newest 50, newest first. */
  readonly attempts: readonly WebhookAttempt[];
}

/** A delivery that this server has to send, with the secrets to sign it, newest first. */
export interface ClaimedDelivery {
  readonly delivery: WebhookDelivery;
  readonly body: string;
  /** Only the latest claim can end the attempt. */
  readonly claim: number;
  readonly secrets: readonly string[];
}

/** `gone` means that the receiver wants no more webhooks. */
export type AttemptResult =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'given up' }
  | { readonly kind: 'gone' };

export interface AttemptEnd {
  /** False, without a change, when the delivery was canceled or claimed by another server. */
  readonly isWritten: boolean;
  /** Why this attempt disabled the endpoint. */
  readonly disabled: DisabledReason | undefined;
}

/** Undefined means all. */
export interface DeliveryFilter {
  readonly endpointId?: string | undefined;
  readonly type?: string | undefined;
  readonly status?: WebhookDelivery['status'] | undefined;
}

export interface DeliveryPage extends DeliveryFilter {
  readonly limit: number;
  /** The id of the last delivery of the page before. */
  readonly after?: string | undefined;
  /** Only deliveries that can be sent again, because their endpoint is enabled. */
  readonly isSendable?: boolean;
}
