// The interface to payments: none (`manual`) or through a payment provider. Pages and routes use only this file. Upgrades
// apply immediately, downgrades from the next period.

/** The pages to return to from the provider's checkout. */
export interface ReturnPages {
  readonly successUrl: string;
  readonly cancelUrl: string;
}

export type PlanChoice =
  | { readonly kind: 'granted'; readonly when: 'now' | 'next period' }
  /** Nothing has changed yet, because the user has to pay on this page first. */
  | { readonly kind: 'redirect'; readonly url: string }
  /** Nothing has changed, because the charge would differ from the confirmed one. */
  | { readonly kind: 'confirm again' };

/** The effect of choosing a plan. */
export type PlanPreview =
  /** Applies immediately and costs nothing now. */
  | { readonly kind: 'now' }
  /** Applies when the current period ends, without a charge until then. */
  | { readonly kind: 'later'; readonly at: Date }
  /** The first payment, on the provider's page. */
  | { readonly kind: 'checkout' }
  /** An unpaid invoice has to be settled first, on the provider's page. */
  | { readonly kind: 'unpaid invoice' }
  | ChargePreview;

/** A change that applies immediately and charges the card. */
export interface ChargePreview {
  readonly kind: 'charge';
  /** The plan that is paid for now. */
  readonly fromPlan: string;
  /** The amount in the smallest unit of the currency. Undefined when the provider can't tell. */
  readonly amount: { readonly due: number; readonly unusedCredit: number; readonly currency: string } | undefined;
  /** The time at which the amount is valid for a change. */
  readonly asOf: Date;
  readonly renewsAt: Date;
}

/** A customer's confirmation of a charge, with the values that the customer was shown. */
export interface ConfirmedCharge {
  readonly fromPlan: string;
  /** Undefined when the provider couldn't tell. */
  readonly due: number | undefined;
  readonly asOf: Date;
}

export interface InvoiceSummary {
  readonly id: string;
  readonly number: string | null;
  readonly createdAt: Date;
  /** The total in the smallest unit of the currency. */
  readonly total: number;
  readonly currency: string;
  readonly status: string;
  /** Pages of the provider. */
  readonly url: string | undefined;
  readonly pdfUrl: string | undefined;
}

/** The result of an event from the provider. Failures are thrown. */
export type Receipt = 'applied' | 'duplicate' | 'ignored';

export interface Reconciliation {
  readonly checked: number;
  readonly failed: number;
}

export interface Billing {
  readonly name: 'manual' | 'stripe';
  /** False when customers can't pay here. Then the operator assigns plans that have a price. */
  readonly takesPayments: boolean;
  /** `confirmed` is the preview that the customer agreed to. Without it, a charge is calculated as of now. */
  choosePlan(accountId: string, plan: string, pages: ReturnPages, confirmed?: ConfirmedCharge): Promise<PlanChoice>;
  previewPlan(accountId: string, plan: string): Promise<PlanPreview>;
  /** Returns the latest invoices, newest first. */
  invoices(accountId: string): Promise<InvoiceSummary[]>;
  /** Returns the URL of the page for invoices and payment methods, or undefined when there is none. */
  manage(accountId: string, returnUrl: string): Promise<string | undefined>;
  /** Cancels the plan. The paid period continues to its end. */
  cancel(accountId: string): Promise<void>;
  /** Ends the paid plan now, without a refund, because the account is deleted. */
  endNow(accountId: string): Promise<void>;
  /** Takes back a cancellation or a downgrade that hasn't applied yet. */
  resume(accountId: string): Promise<void>;
  /** Reads the state from the provider now instead of waiting for its event, for the page that the user returns to. */
  refresh(accountId: string): Promise<void>;
  /** Handles an event from the provider: its exact body, and the header with its signature. */
  receive(rawBody: Buffer, signature: string | undefined): Promise<Receipt>;
  /** Compares all accounts with the provider, in case events were lost. */
  reconcile(signal: AbortSignal): Promise<Reconciliation>;
}

/** The part of a logger that billing needs. */
export interface BillingLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
