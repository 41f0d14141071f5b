// The endpoints of Stripe's API that storybar uses, over a `FakeAccount`. Unknown parameters are refused, as Stripe does.

import {
  type FakeAccount,
  FakeError,
  type FakeInvoice,
  type FakeSubscription,
  missing,
  refused,
} from './fake-account.ts';

export type Value = string | Values | Value[];
export interface Values {
  [name: string]: Value;
}

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly values: Values;
}

type Handler = (account: FakeAccount, id: string, values: Values) => object;

const ROUTES: readonly { readonly route: RegExp; readonly parameters: readonly string[]; readonly handle: Handler }[] =
  [
    route('POST customers', ['name', 'email', 'metadata'], (account, _id, { name, metadata }) => {
      const id = account.id('cus');
      account.customers.set(id, { metadata: texts(metadata), card: 'good', deleted: false });
      return { id, object: 'customer', name, metadata: texts(metadata) };
    }),
    route('GET customers/:id', [], (account, id) => {
      const customer = account.customers.get(id);
      if (customer === undefined) throw missing('customer', id, 'id');
      if (customer.deleted) return { id, object: 'customer', deleted: true };
      return { id, object: 'customer', metadata: customer.metadata };
    }),
    route('GET prices/:id', [], (account, id) => showPrice(account, id)),
    route('GET subscriptions', ['customer', 'status', 'limit', 'expand'], listSubscriptions),
    route(
      'POST subscriptions/:id',
      [
        'items',
        'proration_behavior',
        'proration_date',
        'payment_behavior',
        'cancel_at_period_end',
        'cancel_at',
        'metadata',
        'expand',
      ],
      updateSubscription,
    ),
    route('DELETE subscriptions/:id', [], (account, id) => {
      const subscription = account.subscription(id);
      if (subscription.status === 'canceled') throw missing('subscription', id, 'id');
      account.end(subscription);
      return showSubscription(account, subscription, []);
    }),
    route(
      'POST checkout/sessions',
      ['mode', 'customer', 'client_reference_id', 'line_items', 'subscription_data', 'success_url', 'cancel_url'],
      openCheckout,
    ),
    route('GET checkout/sessions', ['customer', 'status', 'limit'], (account, _id, { customer, status }) =>
      list(account.sessions.filter((item) => item.customer === customer && item.status === status)),
    ),
    route('POST checkout/sessions/:id/expire', [], (account, id) => {
      const session = account.session(id);
      if (session.status !== 'open') throw refused('Only Checkout Sessions with a status in ["open"] can be expired.');
      session.status = 'expired';
      return { ...session, object: 'checkout.session', url: null };
    }),
    route('POST subscription_schedules', ['from_subscription'], (account, _id, values) => {
      const subscription = account.subscription(text(values['from_subscription']));
      if (subscription.schedule !== null) throw refused('The subscription already has a schedule.');
      const { starts, ends, price } = subscription;
      subscription.schedule = { id: account.id('sub_sched'), phases: [{ start: starts, end: ends, price }] };
      account.emitChange(subscription);
      return showSchedule(subscription);
    }),
    route('POST subscription_schedules/:id', ['end_behavior', 'proration_behavior', 'phases'], updateSchedule),
    route('POST subscription_schedules/:id/release', [], (account, id) => {
      const subscription = scheduled(account, id);
      const released = { ...showSchedule(subscription), status: 'released' };
      subscription.schedule = null;
      account.emitChange(subscription, 'subscription_schedule.released');
      return released;
    }),
    route('POST invoices/create_preview', ['customer', 'subscription', 'subscription_details'], previewInvoice),
    route('GET invoices', ['customer', 'limit'], (account, _id, { customer }) => {
      requireCustomer(account, text(customer));
      const own = account.invoices.filter((invoice) => invoice.customer === customer).toReversed();
      return list(own.map((invoice) => showInvoice(account, invoice)));
    }),
    route('POST billing_portal/sessions', ['customer', 'return_url'], (account, _id, { customer }) => {
      requireCustomer(account, text(customer));
      return {
        id: account.id('bps'),
        object: 'billing_portal.session',
        url: `https://portal.invalid/${text(customer)}`,
      };
    }),
  ];

export function respond(account: FakeAccount, { method, path, values }: ApiRequest): object {
  for (const { route: pattern, parameters, handle } of ROUTES) {
    const match = pattern.exec(`${method} ${path}`);
    if (match === null) continue;
    const unknown = Object.keys(values).find((name) => !parameters.includes(name));
    if (unknown !== undefined) {
      const message = `Received unknown parameter: ${unknown}`;
      throw new FakeError(400, 'invalid_request_error', message, 'parameter_unknown', unknown);
    }
    return handle(account, match.groups?.['id'] ?? '', values);
  }
  throw new FakeError(404, 'invalid_request_error', `Unrecognized request URL (${method}: ${path}).`);
}

function route(line: string, parameters: readonly string[], handle: Handler) {
  const pattern = line.replace(' ', ' /v1/').replace(':id', String.raw`(?<id>\w+)`);
  return { route: new RegExp(`^${pattern}$`, 'u'), parameters, handle };
}

function listSubscriptions(account: FakeAccount, _id: string, values: Values): object {
  const customer = text(values['customer']);
  if (!account.customers.has(customer)) throw missing('customer', customer, 'customer');
  const expand = Object.values(values['expand'] ?? {}).map(text);
  const subscriptions = account
    .of(customer)
    .filter(({ status }) => values['status'] === 'all' || status === values['status'])
    .toReversed();
  return list(subscriptions.map((item) => showSubscription(account, item, expand)));
}

function updateSubscription(account: FakeAccount, id: string, values: Values): object {
  const subscription = account.subscription(id);
  if (subscription.status === 'canceled') throw refused('A canceled subscription can only update its metadata.');
  const { items, cancel_at_period_end: atPeriodEnd, cancel_at: cancelAt, metadata } = values;
  if (subscription.schedule !== null && (items ?? atPeriodEnd ?? cancelAt) !== undefined) {
    const what = 'updating any cancelation behavior directly is not allowed. Please update the schedule instead.';
    throw refused(
      `The subscription is managed by the subscription schedule \`${subscription.schedule.id}\`, and ${what}`,
    );
  }
  if (atPeriodEnd !== undefined && cancelAt !== undefined) {
    throw refused('You may only specify one of these parameters: cancel_at_period_end, cancel_at.');
  }
  if (values['payment_behavior'] === 'pending_if_incomplete' && (atPeriodEnd ?? cancelAt) !== undefined) {
    throw refused('When `payment_behavior` is set to `pending_if_incomplete`, you cannot pass `cancel_at_period_end`.');
  }
  for (const [name, value] of Object.entries(texts(metadata))) {
    if (value === '') delete subscription.metadata[name];
    else subscription.metadata[name] = value;
  }
  if (atPeriodEnd !== undefined) {
    subscription.atPeriodEnd = atPeriodEnd === 'true';
    subscription.cancelAt = subscription.atPeriodEnd ? subscription.ends : null;
  }
  if (cancelAt !== undefined) subscription.cancelAt = cancelAt === '' ? null : Number(text(cancelAt));
  if (items !== undefined) changePrice(account, subscription, items, Number(values['proration_date'] ?? account.now));
  account.emitChange(subscription);
  return showSubscription(account, subscription, Object.values(values['expand'] ?? {}).map(text));
}

function changePrice(account: FakeAccount, subscription: FakeSubscription, items: Value, asOf: number): void {
  const [item] = Object.values(items) as Values[];
  if (item?.['id'] !== subscription.item) throw missing('subscription_item', text(item?.['id']), 'items[0][id]');
  const price = text(item['price']);
  showPrice(account, price);
  const [credit, charge] = account.prorations(subscription, price, asOf);
  if (account.cardOf(subscription.customer) === 'good') {
    subscription.price = price;
    subscription.pending = null;
    account.emitInvoice(subscription, 'invoice.paid', credit + charge);
    return;
  }
  subscription.pending = { price, invoice: account.id('in') };
  account.emitInvoice(subscription, 'invoice.payment_failed', credit + charge);
}

function previewInvoice(account: FakeAccount, _id: string, values: Values): object {
  const subscription = account.subscription(text(values['subscription']));
  if (subscription.customer !== values['customer']) throw refused('The subscription belongs to another customer.');
  if (subscription.schedule !== null) throw refused('The subscription is managed by a subscription schedule.');
  const details = values['subscription_details'] as Values;
  if (details['proration_behavior'] !== 'always_invoice') throw refused('Only prorations can be previewed.');
  const [item] = Object.values(details['items'] ?? {}) as Values[];
  if (item?.['id'] !== subscription.item) throw missing('subscription_item', text(item?.['id']), 'items[0][id]');
  const asOf = Number(text(details['proration_date']));
  const amounts = account.prorations(subscription, text(item['price']), asOf);
  const total = amounts[0] + amounts[1];
  const parent = { type: 'subscription_item_details', subscription_item_details: { proration: true } };
  const lines = list(amounts.map((amount) => ({ object: 'line_item', amount, currency: 'usd', parent })));
  return { object: 'invoice', currency: 'usd', total, amount_due: Math.max(0, total), lines };
}

function showInvoice(account: FakeAccount, { id, customer, created, amount, status }: FakeInvoice): object {
  return {
    id,
    object: 'invoice',
    customer,
    number: `INV-${account.invoices.findIndex((invoice) => invoice.id === id) + 1}`,
    created,
    currency: 'usd',
    total: amount,
    amount_due: Math.max(0, amount),
    status,
    hosted_invoice_url: `https://invoice.invalid/${id}`,
    invoice_pdf: `https://invoice.invalid/${id}/pdf`,
  };
}

function openCheckout(account: FakeAccount, _id: string, values: Values): object {
  const customer = text(values['customer']);
  requireCustomer(account, customer);
  const [line] = Object.values(values['line_items'] ?? {}) as Values[];
  const price = text(line?.['price']);
  showPrice(account, price);
  const metadata = texts((values['subscription_data'] as Values | undefined)?.['metadata']);
  const session = { id: account.id('cs'), customer, price, metadata, status: 'open' as const };
  account.sessions.push(session);
  return { ...session, object: 'checkout.session', url: `https://checkout.invalid/c/${session.id}` };
}

function updateSchedule(account: FakeAccount, id: string, values: Values): object {
  const subscription = scheduled(account, id);
  const phases = Object.values(values['phases'] ?? {}) as Values[];
  let start = subscription.starts;
  const next = phases.map((phase) => {
    const [item] = Object.values(phase['items'] ?? {}) as Values[];
    const end = phase['end_date'] === undefined ? start + 30 * 86_400 : Number(text(phase['end_date']));
    const price = text(item?.['price']);
    showPrice(account, price);
    const range = { start, end, price };
    start = end;
    return range;
  });
  if (next[0]?.price !== subscription.price) throw refused('The current phase cannot be changed.');
  if (subscription.schedule !== null) subscription.schedule.phases = next;
  account.emitChange(subscription, 'subscription_schedule.updated');
  return showSchedule(subscription);
}

function scheduled(account: FakeAccount, id: string): FakeSubscription {
  const found = account.subscriptions.find(({ schedule }) => schedule?.id === id);
  if (found === undefined) throw missing('subscription_schedule', id, 'schedule');
  return found;
}

function requireCustomer(account: FakeAccount, customer: string): void {
  if (account.customers.get(customer)?.deleted !== false) throw missing('customer', customer, 'customer');
}

function showPrice(account: FakeAccount, id: string): object {
  const price = account.prices.find((item) => item.id === id);
  if (price === undefined) throw missing('price', id, 'price');
  const { amount, currency, interval } = price;
  return {
    id,
    object: 'price',
    active: true,
    currency,
    unit_amount: amount,
    recurring: { interval, interval_count: 1 },
  };
}

/** Shows periods in items, as in the API version of the library. */
function showSubscription(account: FakeAccount, subscription: FakeSubscription, expand: readonly string[]): object {
  const { id, customer, created, status, item, price, starts, ends, metadata, schedule, pending } = subscription;
  const hosted = `https://invoice.invalid/${pending?.invoice}`;
  const invoice = { id: pending?.invoice ?? 'in_paid', object: 'invoice', hosted_invoice_url: hosted };
  const line = { id: item, object: 'subscription_item', price: showPrice(account, price), quantity: 1 };
  return {
    id,
    object: 'subscription',
    customer,
    created,
    start_date: created,
    status,
    metadata,
    items: list([{ ...line, current_period_start: starts, current_period_end: ends }]),
    cancel_at_period_end: subscription.atPeriodEnd,
    cancel_at: subscription.cancelAt,
    ended_at: subscription.endedAt,
    pending_update: pending && { expires_at: account.now + 23 * 3_600, subscription_items: [] },
    latest_invoice: expand.includes('latest_invoice') ? invoice : invoice.id,
    schedule: schedule && (expand.includes('data.schedule') ? showSchedule(subscription) : schedule.id),
  };
}

function showSchedule({ id, schedule, starts, ends }: FakeSubscription): object {
  const phases = schedule?.phases.map(({ start, end, price }) => {
    const items = [{ price, quantity: 1 }];
    return { start_date: start, end_date: end, items, discounts: [], trial_end: null };
  });
  const current = { start_date: starts, end_date: ends };
  const object = 'subscription_schedule';
  return { id: schedule?.id, object, subscription: id, status: 'active', current_phase: current, phases };
}

function list(data: readonly object[]): object {
  return { object: 'list', data, has_more: false, url: '/v1' };
}

function text(value: Value | undefined): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: Value | undefined): Record<string, string> {
  if (value === undefined || typeof value === 'string') return {};
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, text(item)]));
}
