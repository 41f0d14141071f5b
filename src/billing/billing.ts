// The interface to payments: none (`manual`) or through a payment provider. Pages and routes use only this file. Upgrades
// apply immediately, downgrades from the next period.

/** The pages to return to from the provider's checkout. */
export interface ReturnPages {
  readonly successUrl: string;
  readonly cancelUrl: string;
}

export type PlanChoice =
  | { readonly kind: 'granted'; readonly when: 'now' | 'next period' }
  /** Nothing has changed yet: the user has to go to this page first, to pay. */
  | { readonly kind: 'redirect'; readonly url: string };

/** The result of an event from the provider. Failures are thrown. */
export type Receipt = 'applied' | 'duplicate' | 'ignored';

export interface Reconciliation {
  readonly checked: number;
  readonly failed: number;
}

export interface Billing {
  readonly name: 'manual' | 'stripe';
  /** False when customers can't pay here. The operator then assigns plans that have a price. */
  readonly takesPayments: boolean;
  choosePlan(accountId: string, plan: string, pages: ReturnPages): Promise<PlanChoice>;
  /** The URL of the page for invoices and payment methods; undefined when there is none. */
  manage(accountId: string, returnUrl: string): Promise<string | undefined>;
  /** The paid period continues to its end. */
  cancel(accountId: string): Promise<void>;
  /** Takes back a cancellation or a downgrade that hasn't applied yet. */
  resume(accountId: string): Promise<void>;
  /** Reads the state from the provider now instead of waiting for its event, for the page to return to. */
  refresh(accountId: string): Promise<void>;
  /** Handles an event from the provider: its exact body, and the header with its signature. */
  receive(rawBody: Buffer, signature: string | undefined): Promise<Receipt>;
  /** Compares all accounts with the provider, in case events were lost. */
  reconcile(signal: AbortSignal): Promise<Reconciliation>;
}

/** The part of a logger that is needed here. */
export interface BillingLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
