// The setup for tests of payments: the fake Stripe, the real library against it, a real store and one account.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parsePlans } from '../../src/service/account/plans.ts';
import type { Subscription } from '../../src/service/account/subscription.ts';
import type { ConfirmedCharge, PlanChoice } from '../../src/service/billing/billing.ts';
import { StripeBilling } from '../../src/service/billing/stripe.ts';
import { AppError } from '../../src/shared/errors.ts';
import { ERRORS } from '../../src/shared/error-table.ts';
import { SqliteEngine } from '../../src/service/store/sqlite-engine.ts';
import { createStore, type Store } from '../../src/service/store/store.ts';
import { WebhookSender, WEBHOOK_SECRET } from './webhook-sender.ts';
import type { FakeAccount, FakeSubscription } from './fake-account.ts';
import { FakeStripe, SECRET_KEY } from './fake-stripe.ts';

const limits = { requestsPerMinute: 60, concurrentRenders: 2 };

export const PLANS_FILE = {
  plans: [
    { name: 'free', monthlyPriceCents: 0, credits: 100, ...limits },
    { name: 'starter', monthlyPriceCents: 900, credits: 2_000, ...limits, stripePrice: 'price_starter' },
    { name: 'pro', monthlyPriceCents: 2_900, credits: 10_000, ...limits, stripePrice: 'price_pro' },
    { name: 'business', monthlyPriceCents: 9_900, credits: 50_000, ...limits, stripePrice: 'price_business' },
  ],
};

export const PRICES = [
  { id: 'price_starter', amount: 900, currency: 'usd', interval: 'month' },
  { id: 'price_pro', amount: 2_900, currency: 'usd', interval: 'month' },
  { id: 'price_business', amount: 9_900, currency: 'usd', interval: 'month' },
  { id: 'price_retired', amount: 100, currency: 'usd', interval: 'month' },
];

const PAGES = { successUrl: 'https://storybar.test/paid', cancelUrl: 'https://storybar.test/plans' };

export interface LogLine {
  readonly level: string;
  readonly details: object;
  readonly message: string;
}

export class StripeWorld {
  readonly fake: FakeStripe;
  readonly store: Store;
  readonly billing: StripeBilling;
  readonly webhooks: WebhookSender;
  readonly log: LogLine[] = [];
  readonly accountId = 'acct';
  readonly #directory: string;

  private constructor(fake: FakeStripe) {
    this.fake = fake;
    this.#directory = mkdtempSync(path.join(tmpdir(), 'storybar-billing-'));
    this.store = createStore(new SqliteEngine(path.join(this.#directory, 'storybar.db')), () => fake.now());
    this.billing = this.anotherServer();
    this.webhooks = new WebhookSender(fake, async (body, signature) => await this.#receive(body, signature));
  }

  static async create(): Promise<StripeWorld> {
    const world = new StripeWorld(await FakeStripe.start(PRICES));
    await world.store.accounts.create({ id: world.accountId, name: 'Ada' }, 'system');
    return world;
  }

  /** Another server process on the same store. */
  anotherServer(options: { plans?: object; secretKey?: string } = {}): StripeBilling {
    const record =
      (level: string) =>
      (details: object, message: string): void => {
        this.log.push({ level, details, message });
      };
    return new StripeBilling({
      secretKey: options.secretKey ?? SECRET_KEY,
      webhookSecrets: ['whsec_new', WEBHOOK_SECRET],
      apiUrl: this.fake.url,
      store: this.store,
      plans: parsePlans(options.plans ?? PLANS_FILE),
      log: { info: record('info'), warn: record('warn'), error: record('error') },
    });
  }

  get account(): FakeAccount {
    return this.fake.account;
  }

  async choose(plan: string, confirmed?: ConfirmedCharge): Promise<PlanChoice> {
    return await this.billing.choosePlan(this.accountId, plan, PAGES, confirmed);
  }

  /** Chooses a plan, pays in the checkout and delivers the events. */
  async buy(plan: string): Promise<FakeSubscription> {
    const choice = await this.choose(plan);
    if (choice.kind !== 'redirect') throw new Error('no checkout');
    const subscription = this.account.pay(choice.url);
    await this.webhooks.deliver();
    return subscription;
  }

  async customer(): Promise<string> {
    const customer = await this.store.accounts.customerOf(this.accountId);
    if (customer === undefined) throw new Error('no customer yet');
    return customer;
  }

  async subscription(): Promise<Subscription | undefined> {
    return (await this.store.accounts.find(this.accountId))?.subscription;
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.fake.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #receive(body: Buffer, signature: string): Promise<number> {
    try {
      await this.billing.receive(body, signature);
      return 200;
    } catch (error) {
      return error instanceof AppError ? ERRORS[error.code].status : 500;
    }
  }
}
