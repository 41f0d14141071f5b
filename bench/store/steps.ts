// The server's use of its store: requests, pages and periodic tasks, each with the rows that make it slow.

import { must } from '../../src/shared/must.ts';
import type { NewRender } from '../../src/service/store/renders/render.ts';
import type { Store } from '../../src/service/store/store.ts';
import { BIG, uuid } from './seed.ts';

const DAY_MS = 24 * 3_600_000;
const OPERATOR = `operator:${uuid('user', 0)}`;
const LIMITS = { queuedRenders: 1_000_000, storedBytes: 1e15, serviceBytes: 1e15, testRendersPerDay: 500 };
const PLANS = [
  { name: 'free', credits: 100 },
  { name: 'pro', credits: 10_000 },
];

export interface Step {
  readonly name: string;
  readonly run: (store: Store) => Promise<unknown>;
}

function day(daysAgo: number): string {
  return new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
}

function ago(days: number): Date {
  return new Date(Date.now() - days * DAY_MS);
}

async function newRender({ accounts }: Store, id: string, mode: 'live' | 'test' = 'live'): Promise<NewRender> {
  const { period } = must((await accounts.find(BIG))?.subscription, 'the subscription');
  return {
    id,
    accountId: BIG,
    keyId: undefined,
    mode,
    batchId: undefined,
    request: '{}',
    plan: 'pro',
    period,
    renews: true,
    lane: 'image',
    asset: undefined,
    maxRunning: 8,
  };
}

const RENDERS: readonly Step[] = [
  { name: 'claim a render', run: async ({ renders }) => await renders.claim('image') },
  // Its statements are prepared by now, as on a server that runs.
  { name: 'claim the next render', run: async ({ renders }) => await renders.claim('image') },
  { name: 'claim a render of an empty lane', run: async ({ renders }) => await renders.claim('video') },
  {
    name: 'accept a render',
    run: async (store) => await store.renders.accept([await newRender(store, uuid('new', 1))], { limits: LIMITS }),
  },
  {
    name: 'accept a test render',
    run: async (store) =>
      await store.renders.accept([await newRender(store, uuid('new', 2), 'test')], { limits: LIMITS }),
  },
  {
    name: 'accept a batch of 100',
    run: async (store) => {
      const batch = { id: uuid('new batch', 1), accountId: BIG, keyId: undefined, mode: 'live' } as const;
      const render = await newRender(store, '');
      const all = Array.from({ length: 100 }, (_, index) => ({
        ...render,
        id: uuid('of batch', index),
        batchId: batch.id,
      }));
      await store.renders.accept(all, { limits: LIMITS, batch });
    },
  },
  { name: 'list renders', run: async ({ renders }) => await renders.list({ accountId: BIG }, { limit: 51 }) },
  {
    name: 'list renders, status without a match',
    run: async ({ renders }) => await renders.list({ accountId: BIG }, { limit: 51, status: 'failed' }),
  },
  {
    name: 'list renders, key without a match',
    run: async ({ renders }) => await renders.list({ accountId: BIG, keyId: 'none' }, { limit: 51 }),
  },
  {
    name: 'list renders, mode without a match',
    run: async ({ renders }) => await renders.list({ accountId: BIG, mode: 'test' }, { limit: 51 }),
  },
  {
    name: 'list renders of a batch',
    run: async ({ renders }) => await renders.list({ accountId: BIG }, { limit: 51, batchId: uuid('batch', 5) }),
  },
  { name: 'find expired objects', run: async ({ renders }) => await renders.expiredObjects(100) },
  { name: 'release lost renders', run: async ({ renders }) => await renders.releaseLost(() => false) },
  { name: 'pending events', run: async ({ renders }) => await renders.events.pending(100) },
  {
    name: 'mark an object as deleted',
    run: async ({ renders }) =>
      await renders.markDeleted({ renderId: uuid('render', 0), kind: 'output', name: 'outputs/x' }),
  },
];

const REQUEST_LOG: readonly Step[] = [
  { name: 'request log', run: async ({ requests }) => await requests.list(BIG, { count: 51 }) },
  {
    name: 'request log, status without a match',
    run: async ({ requests }) => await requests.list(BIG, { statuses: [500, 599], count: 51 }),
  },
  {
    name: 'request log, key without a match',
    run: async ({ requests }) => await requests.list(BIG, { keyId: 'none', count: 51 }),
  },
  {
    name: 'request log, day and status without a match',
    run: async ({ requests }) => await requests.list(BIG, { statuses: [400, 499], day: day(3), count: 51 }),
  },
  { name: 'request log, CSV', run: async ({ requests }) => await requests.list(BIG, { count: 10_000 }) },
];

const PAGES: readonly Step[] = [
  { name: 'usage per day', run: async ({ usage }) => await usage.days(BIG, day(90), day(0)) },
  { name: 'usage per key', run: async ({ usage }) => await usage.keyDays(BIG, day(30), day(0)) },
  { name: 'usage details, first time', run: async ({ usage }) => await usage.details(BIG, day(30), day(0)) },
  { name: 'usage details', run: async ({ usage }) => await usage.details(BIG, day(30), day(0)) },
  { name: 'latest renders', run: async ({ usage }) => await usage.latest(BIG, 20) },
  { name: 'latest renders, CSV', run: async ({ usage }) => await usage.latest(BIG, 10_000) },
  {
    name: 'webhook deliveries',
    run: async ({ webhookDeliveries }) => await webhookDeliveries.list(BIG, { limit: 51 }),
  },
  {
    name: 'webhook deliveries of an endpoint',
    run: async ({ webhookDeliveries }) =>
      await webhookDeliveries.list(BIG, { limit: 51, endpointId: uuid('endpoint', 0) }),
  },
  {
    name: 'export of an account',
    run: async ({ accountData }) => {
      let rows = 0;
      for await (const section of accountData.exported(BIG)) rows += section.rows.length;
      return rows;
    },
  },
  { name: 'operator: renders per day', run: async ({ operator }) => await operator.days(day(29), day(0)) },
  { name: 'operator: sign-ups', run: async ({ operator }) => await operator.signUps(day(29), day(0)) },
  { name: 'operator: plans', run: async ({ operator }) => await operator.plans() },
  { name: 'operator: number of accounts', run: async ({ accounts }) => await accounts.count() },
  { name: 'operator: accounts', run: async ({ users }) => await users.searchAccounts('', search({})) },
  { name: 'operator: search without a match', run: async ({ users }) => await users.searchAccounts('zzz', search({})) },
  { name: 'operator: search by email', run: async ({ users }) => await users.searchAccounts('user5@', search({})) },
  {
    name: 'operator: suspended accounts',
    run: async ({ users }) => await users.searchAccounts('', search({ state: 'suspended' })),
  },
  {
    name: 'operator: accounts of an unknown plan',
    run: async ({ users }) => await users.searchAccounts('', search({ plan: 'none' })),
  },
  { name: 'operator: view an account', run: async ({ operator }) => await operator.recordView(BIG, OPERATOR) },
  { name: 'audit log', run: async ({ audit }) => await audit.list({ count: 51 }) },
  { name: 'audit log of an account', run: async ({ audit }) => await audit.list({ accountId: BIG, count: 51 }) },
  {
    name: 'audit log, action without a match',
    run: async ({ audit }) => await audit.list({ action: 'credits.', count: 51 }),
  },
  {
    name: 'audit log, actor without a match',
    run: async ({ audit }) => await audit.list({ actor: 'stripe', count: 51 }),
  },
  {
    name: 'audit log of an operator',
    run: async ({ audit }) => await audit.list({ accountId: BIG, actor: 'stripe', count: 51 }),
  },
];

function search(filter: { plan?: string; state?: 'suspended' }) {
  return { plan: filter.plan, state: filter.state, after: undefined, count: 26 };
}

const TASKS: readonly Step[] = [
  { name: 'heartbeat', run: async ({ ledger }) => await ledger.heartbeat() },
  { name: 'sweep', run: async ({ ledger }) => await ledger.sweep(() => false) },
  { name: 'claim webhooks', run: async ({ webhookDeliveries }) => await webhookDeliveries.claim(10) },
  {
    name: 'release lost webhooks',
    run: async ({ webhookDeliveries }) => await webhookDeliveries.releaseLost(() => false),
  },
  { name: 'webhook notice', run: async ({ webhookEndpoints }) => await webhookEndpoints.claimNotice() },
  {
    name: 'disable an endpoint with 1,000 pending webhooks',
    run: async ({ webhookEndpoints }) => await webhookEndpoints.setEnabled(BIG, uuid('endpoint', 0), false, 'system'),
  },
  {
    name: 'credit notices, 80 %',
    run: async ({ creditNotices }) => await creditNotices.due({ percent: 80, plans: PLANS }, 100),
  },
  { name: 'plans in use (start)', run: async ({ accounts }) => await accounts.plansInUse() },
  { name: 'remove expired idempotency keys', run: async ({ idempotency }) => await idempotency.removeExpired() },
  { name: 'remove expired sessions', run: async ({ sessions }) => await sessions.removeExpired() },
  { name: 'remove expired links', run: async ({ users }) => await users.removeExpired() },
  { name: 'remove expired invitations', run: async ({ members }) => await members.removeExpired() },
  { name: 'remove expired challenges', run: async ({ passkeys }) => await passkeys.removeExpired() },
  { name: 'remove old payment events', run: async ({ payments }) => await payments.deleteBefore(ago(15)) },
  { name: 'delete old requests', run: async ({ requests }) => await requests.deleteBefore(ago(30)) },
  { name: 'trim the request log', run: async ({ requests }) => await requests.trim(95_000) },
  { name: 'delete old holds', run: async ({ usage }) => await usage.deleteBefore(ago(27)) },
  { name: 'delete old renders', run: async ({ renders }) => await renders.deleteBefore(ago(15)) },
  { name: 'delete old webhooks', run: async ({ webhookDeliveries }) => await webhookDeliveries.deleteBefore(ago(30)) },
  { name: 'erase unconfirmed accounts', run: async ({ users }) => await users.eraseUnconfirmed(ago(29)) },
  { name: 'erase an account', run: async ({ accountData }) => await accountData.erase(BIG, 'system') },
  {
    name: 'purge an account',
    run: async ({ accountData }) =>
      await accountData.purge((_id, error) => {
        throw error;
      }),
  },
];

export const STEPS: readonly Step[] = [...RENDERS, ...REQUEST_LOG, ...PAGES, ...TASKS];
