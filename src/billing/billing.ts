// Who pays for a plan, behind one interface: nobody (`manual`), or customers of a payment provider. Pages and routes know
// only this file. Upgrades count at once, downgrades from the next period.

/** Pages of ours that people come back to from the provider's. */
export interface ReturnPages {
  readonly successUrl: string;
  readonly cancelUrl: string;
}

export type PlanChoice =
  | { readonly kind: 'granted'; readonly when: 'now' | 'next period' }
  /** Nothing has changed yet: the person goes there first, to pay. */
  | { readonly kind: 'redirect'; readonly url: string };

/** What became of an event of the provider. All of them are good ends; anything else is thrown. */
export type Receipt = 'applied' | 'duplicate' | 'ignored';

export interface Reconciliation {
  readonly checked: number;
  readonly failed: number;
}

export interface Billing {
  readonly name: 'manual' | 'stripe';
  /** False: plans cost nothing here, whatever their price says, and pages say so. */
  readonly takesPayments: boolean;
  choosePlan(accountId: string, plan: string, pages: ReturnPages): Promise<PlanChoice>;
  /** Where a customer sees invoices and changes the card; undefined where there is no such place. */
  manage(accountId: string, returnUrl: string): Promise<string | undefined>;
  /** The period that is paid for goes on to its end. */
  cancel(accountId: string): Promise<void>;
  /** Takes a cancellation, or the choice of a lower plan, back. */
  resume(accountId: string): Promise<void>;
  /** For the page people come back to: asks the provider now instead of waiting for its event. */
  refresh(accountId: string): Promise<void>;
  /** An event of the provider: its body byte for byte, and the header that signs it. */
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
