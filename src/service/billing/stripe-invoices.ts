// Invoices at Stripe: those that exist, and the one that an upgrade would create.

import type { Stripe } from 'stripe';
import type { ChargePreview, InvoiceSummary } from './billing.ts';
import type { PlanItem } from './stripe-reading.ts';

const MAX_INVOICES = 24;

export class StripeInvoices {
  readonly #stripe: Stripe;

  constructor(stripe: Stripe) {
    this.#stripe = stripe;
  }

  async list(customer: string): Promise<InvoiceSummary[]> {
    const { data } = await this.#stripe.invoices.list({ customer, limit: MAX_INVOICES });
    return data.map(({ id, number, created, total, currency, status, hosted_invoice_url, invoice_pdf }) => ({
      id,
      number,
      createdAt: new Date(created * 1_000),
      total,
      currency: currency.toUpperCase(),
      status: status ?? 'draft',
      url: webAddress(hosted_invoice_url),
      pdfUrl: webAddress(invoice_pdf),
    }));
  }

  /**
   * Previews an upgrade. The upgrade itself must pass the same time to Stripe, so that it costs what the preview says.
   */
  async previewUpgrade(
    subscription: Stripe.Subscription,
    { item, plan }: PlanItem,
    price: string,
    at = new Date(),
  ): Promise<ChargePreview> {
    const seconds = Math.floor(at.getTime() / 1_000);
    const asOf = Math.min(Math.max(seconds, item.current_period_start), item.current_period_end - 1);
    const preview = {
      kind: 'charge',
      fromPlan: plan.name,
      asOf: new Date(asOf * 1_000),
      renewsAt: new Date(item.current_period_end * 1_000),
    } as const;
    // Stripe previews no change of items while a schedule is attached. The upgrade releases it first.
    if (subscription.schedule !== null) return { ...preview, amount: undefined };
    const { customer } = subscription;
    const invoice = await this.#stripe.invoices.createPreview({
      customer: typeof customer === 'string' ? customer : customer.id,
      subscription: subscription.id,
      subscription_details: {
        items: [{ id: item.id, price }],
        proration_behavior: 'always_invoice',
        proration_date: asOf,
      },
    });
    const unusedCredit = invoice.lines.data.reduce((sum, { amount }) => sum - Math.min(0, amount), 0);
    return { ...preview, amount: { due: invoice.amount_due, unusedCredit, currency: invoice.currency.toUpperCase() } };
  }
}

/** Returns only web URLs, because the page shows them as links. */
function webAddress(url: string | null | undefined): string | undefined {
  return url?.startsWith('https://') ? url : undefined;
}
