// The account behind the fake Stripe: its objects, and how API requests, customers and time change them. Written from
// Stripe's documentation, independently of the code under test. Times are in seconds.

export class FakeError extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string | undefined;
  readonly param: string | undefined;

  constructor(status: number, type: string, message: string, code?: string, param?: string) {
    super(message);
    this.status = status;
    this.type = type;
    this.code = code;
    this.param = param;
  }
}

export interface FakeSubscription {
  readonly id: string;
  readonly customer: string;
  readonly created: number;
  status: 'active' | 'trialing' | 'past_due' | 'unpaid' | 'paused' | 'incomplete' | 'incomplete_expired' | 'canceled';
  price: string;
  readonly item: string;
  starts: number;
  ends: number;
  atPeriodEnd: boolean;
  cancelAt: number | null;
  endedAt: number | null;
  metadata: Record<string, string>;
  schedule: FakeSchedule | null;
  /** An upgrade whose invoice isn't paid yet. */
  pending: { readonly price: string; readonly invoice: string } | null;
}

interface FakeSchedule {
  readonly id: string;
  phases: { start: number; end: number; price: string }[];
}

interface FakeSession {
  readonly id: string;
  readonly customer: string;
  readonly price: string;
  readonly metadata: Record<string, string>;
  status: 'open' | 'complete' | 'expired';
}

export interface FakeInvoice {
  readonly id: string;
  readonly customer: string;
  readonly created: number;
  readonly amount: number;
  readonly status: 'paid' | 'open';
}

export interface FakeEvent {
  readonly id: string;
  readonly type: string;
  readonly object: object;
}

export type Card = 'good' | 'declined';

export interface FakePrice {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  readonly interval: string;
}

const MONTH = 30 * 86_400;

export class FakeAccount {
  /** Events that weren't delivered yet. */
  readonly events: FakeEvent[] = [];
  readonly customers = new Map<string, { metadata: Record<string, string>; card: Card; deleted: boolean }>();
  readonly sessions: FakeSession[] = [];
  readonly subscriptions: FakeSubscription[] = [];
  readonly invoices: FakeInvoice[] = [];
  readonly prices: readonly FakePrice[];
  now = Date.UTC(2026, 2, 10) / 1_000;
  #count = 0;

  constructor(prices: readonly FakePrice[]) {
    this.prices = prices;
  }

  id(prefix: string): string {
    this.#count += 1;
    return `${prefix}_${String(this.#count).padStart(6, '0')}`;
  }

  emit(type: string, object: object): void {
    this.events.push({ id: this.id('evt'), type, object });
  }

  emitChange(subscription: FakeSubscription, type = 'customer.subscription.updated'): void {
    this.emit(type, { id: subscription.id, object: 'subscription', customer: subscription.customer });
  }

  /** `amount` defaults to the price of a month. */
  emitInvoice({ customer, id, price }: FakeSubscription, type: string, amount = this.amountOf(price)): void {
    const parent = { type: 'subscription_details', subscription_details: { subscription: id } };
    const invoice = this.id('in');
    const status = type === 'invoice.paid' ? 'paid' : 'open';
    this.invoices.push({ id: invoice, customer, created: this.now, amount, status });
    this.emit(type, { id: invoice, object: 'invoice', customer, parent });
  }

  amountOf(price: string): number {
    return this.prices.find(({ id }) => id === price)?.amount ?? 0;
  }

  /** The unused time at the old price, and the same time at the new one. */
  prorations({ starts, ends, price }: FakeSubscription, newPrice: string, asOf: number): readonly [number, number] {
    if (asOf < starts || asOf >= ends) throw refused('The proration date must be within the current period.');
    const share = (ends - asOf) / (ends - starts);
    return [-Math.round(this.amountOf(price) * share), Math.round(this.amountOf(newPrice) * share)];
  }

  of(customer: string): FakeSubscription[] {
    return this.subscriptions.filter((item) => item.customer === customer);
  }

  subscription(id: string): FakeSubscription {
    const found = this.subscriptions.find((item) => item.id === id);
    if (found === undefined) throw missing('subscription', id, 'id');
    return found;
  }

  session(url: string): FakeSession {
    const found = this.sessions.find(({ id }) => url.endsWith(id));
    if (found === undefined) throw missing('checkout.session', url, 'session');
    return found;
  }

  cardOf(customer: string): Card {
    return this.customers.get(customer)?.card ?? 'declined';
  }

  // Actions of customers.

  /** Completes the checkout. With `paid` false, the first payment is left incomplete. */
  pay(url: string, paid = true): FakeSubscription {
    const session = this.session(url);
    if (session.status !== 'open') throw new Error(`the checkout is ${session.status}`);
    session.status = 'complete';
    return this.subscribe(session.customer, session.price, session.metadata, paid);
  }

  subscribe(customer: string, price: string, metadata: Record<string, string> = {}, paid = true): FakeSubscription {
    const subscription: FakeSubscription = {
      id: this.id('sub'),
      customer,
      created: this.now,
      status: paid ? 'active' : 'incomplete',
      price,
      item: this.id('si'),
      starts: this.now,
      ends: this.now + MONTH,
      atPeriodEnd: false,
      cancelAt: null,
      endedAt: null,
      metadata: { ...metadata },
      schedule: null,
      pending: null,
    };
    this.subscriptions.push(subscription);
    this.emitChange(subscription, 'customer.subscription.created');
    if (paid) {
      this.emit('checkout.session.completed', { id: this.id('cs'), object: 'checkout.session', customer });
      this.emitInvoice(subscription, 'invoice.paid');
    }
    return subscription;
  }

  /** The customer pays all open invoices. */
  payOpenInvoices(customer: string): void {
    for (const subscription of this.of(customer)) {
      if (subscription.pending !== null) {
        subscription.price = subscription.pending.price;
        subscription.pending = null;
        this.emitChange(subscription, 'customer.subscription.pending_update_applied');
        this.emitChange(subscription);
      }
      if (['past_due', 'unpaid', 'incomplete'].includes(subscription.status)) {
        subscription.status = 'active';
        this.emitInvoice(subscription, 'invoice.paid');
        this.emitChange(subscription);
      }
    }
  }

  setStatus(subscription: FakeSubscription, status: FakeSubscription['status']): void {
    subscription.status = status;
    this.emitChange(subscription);
  }

  end(subscription: FakeSubscription): void {
    subscription.status = 'canceled';
    subscription.endedAt = this.now;
    subscription.schedule = null;
    subscription.pending = null;
    this.emitChange(subscription, 'customer.subscription.deleted');
  }

  deleteCustomer(id: string): void {
    for (const subscription of this.of(id)) if (subscription.status !== 'canceled') this.end(subscription);
    const customer = this.customers.get(id);
    if (customer !== undefined) customer.deleted = true;
    this.emit('customer.deleted', { id, object: 'customer' });
  }

  /** Lets time pass: when a period ends, the subscription renews, changes or ends. */
  advance(days: number): void {
    const until = this.now + days * 86_400;
    for (;;) {
      const due = this.subscriptions
        .filter(({ status, ends }) => ['active', 'trialing', 'past_due'].includes(status) && ends <= until)
        .toSorted((a, b) => a.ends - b.ends)[0];
      if (due === undefined) break;
      this.now = due.ends;
      this.#renewOrEnd(due);
    }
    this.now = until;
  }

  #renewOrEnd(subscription: FakeSubscription): void {
    if (subscription.atPeriodEnd || (subscription.cancelAt ?? Infinity) <= subscription.ends) {
      this.end(subscription);
      return;
    }
    const next = subscription.schedule?.phases.find(({ start }) => start === subscription.ends);
    if (next !== undefined) {
      subscription.price = next.price;
      subscription.schedule = null;
    }
    subscription.starts = subscription.ends;
    subscription.ends += MONTH;
    const paid = this.cardOf(subscription.customer) === 'good';
    subscription.status = paid ? 'active' : 'past_due';
    this.emitInvoice(subscription, paid ? 'invoice.paid' : 'invoice.payment_failed');
    this.emitChange(subscription);
  }
}

export function missing(what: string, id: string, param: string): FakeError {
  return new FakeError(404, 'invalid_request_error', `No such ${what}: '${id}'`, 'resource_missing', param);
}

export function refused(message: string): FakeError {
  return new FakeError(400, 'invalid_request_error', message);
}
