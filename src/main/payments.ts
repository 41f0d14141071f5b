// Wires payments: the provider, the route for its events and the hourly reconciliation.

import type { PlanBook } from '../service/account/plans.ts';
import type { Billing } from '../service/billing/billing.ts';
import { ManualBilling } from '../service/billing/manual.ts';
import { type Settings, SettingsError } from '../service/config/settings.ts';
import { AppError } from '../shared/errors.ts';
import type { RouteGroup } from '../service/http/route-group.ts';
import { paymentWebhookRoutes } from '../service/http/payment-webhook.ts';
import type { Store } from '../service/store/store.ts';
import type { DependencyMetrics } from '../service/telemetry/dependency-metrics.ts';
import type { Logger } from '../service/telemetry/logger.ts';

type PaymentSettings = Pick<Settings, 'billing' | 'stripeSecretKey' | 'stripeWebhookSecrets' | 'stripeApiUrl'>;

const HOUR_MS = 3_600_000;

export interface PaymentServices {
  readonly billing: Billing;
  readonly groups: readonly RouteGroup[];
  /** Call before the store is closed. */
  close(): Promise<void>;
}

/** Throws a `SettingsError` that lists every missing setting. */
export function assertPaymentSettings(settings: PaymentSettings, { plans }: PlanBook): void {
  if (settings.billing === 'manual') return;
  const faults: string[] = [];
  const required = 'is required with STORYBAR_BILLING=stripe';
  if (settings.stripeSecretKey === '') faults.push(`STORYBAR_STRIPE_SECRET_KEY ${required}`);
  if (settings.stripeWebhookSecrets.length === 0) faults.push(`STORYBAR_STRIPE_WEBHOOK_SECRETS ${required}`);
  const prices = new Set<string>();
  for (const { name, monthlyPriceCents, stripePrice } of plans) {
    if (monthlyPriceCents > 0 && stripePrice === undefined) {
      faults.push(`STORYBAR_PLANS: the stripePrice of the paid plan "${name}" ${required}`);
    }
    if (stripePrice === undefined) continue;
    if (prices.has(stripePrice)) faults.push(`STORYBAR_PLANS: plan "${name}" has the stripePrice of another plan`);
    prices.add(stripePrice);
  }
  if (faults.length > 0) throw new SettingsError(faults);
}

export async function startPayments(
  settings: PaymentSettings,
  store: Store,
  plans: PlanBook,
  logger: Logger,
  metrics: DependencyMetrics,
): Promise<PaymentServices> {
  if (settings.billing === 'manual') {
    return { billing: new ManualBilling(store, plans), groups: [], close: async () => undefined };
  }
  // Stripe is loaded on demand, because it is a tenth of everything a server loads.
  const { StripeBilling } = await import('../service/billing/stripe.ts');
  const billing = new StripeBilling({
    secretKey: settings.stripeSecretKey,
    webhookSecrets: settings.stripeWebhookSecrets,
    apiUrl: settings.stripeApiUrl,
    store,
    plans,
    log: logger,
  });
  const receive: Billing['receive'] = async (body, signature) => {
    try {
      const receipt = await billing.receive(body, signature);
      metrics.webhook('accepted');
      return receipt;
    } catch (error) {
      const isRefused = error instanceof AppError && error.code === 'invalid_signature';
      metrics.webhook(isRefused ? 'refused' : 'failed');
      throw error;
    }
  };
  return { billing, groups: [paymentWebhookRoutes({ receive })], close: reconcileHourly(billing, logger) };
}

/** Reconciles now and every hour. The returned function stops it and waits for a run in progress. */
function reconcileHourly(billing: Billing, logger: Logger): () => Promise<void> {
  const stop = new AbortController();
  const reconcile = async (): Promise<void> => {
    try {
      const { checked, failed } = await billing.reconcile(stop.signal);
      logger[failed > 0 ? 'error' : 'info']({ checked, failed }, 'accounts reconciled with the payment provider');
    } catch (error) {
      logger.error({ err: error }, 'reconciliation with the payment provider failed');
    }
  };
  let running = reconcile();
  const timer = setInterval(() => {
    // A run that takes longer than an hour delays the next one.
    running = running.then(reconcile);
  }, HOUR_MS).unref();
  return async () => {
    clearInterval(timer);
    stop.abort();
    await running;
  };
}
