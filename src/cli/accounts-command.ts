// `storybar accounts` works directly on the store, also while a server is running.

import { allowedBroken, type DeliveryCounts } from '../service/account/broken-delivery.ts';
import { remaining } from '../service/account/credits.ts';
import type { PlanBook } from '../service/account/plans.ts';
import type { Subscription } from '../service/account/subscription.ts';
import { readSettings } from '../service/config/settings.ts';
import { AppError } from '../shared/errors.ts';
import type { AccountSummary } from '../service/store/accounts/accounts.ts';
import type { Store } from '../service/store/store.ts';
import { commandLineActor } from './actor.ts';
import { UsageError } from './exit-codes.ts';
import { flag, required, text, wholeNumber } from './options.ts';
import { openAccount } from '../main/issue-key.ts';
import { loadPlans } from '../main/load-plans.ts';
import { withStore } from '../main/open-store.ts';
import { facts, type Print, table } from './print.ts';
import { action, type Command, runActions } from './run-actions.ts';

interface Task {
  readonly store: Store;
  readonly plans: PlanBook;
  readonly print: Print;
}

const COMMAND: Command<Task> = {
  name: 'accounts',
  actions: [
    action({
      name: 'list',
      options: { count: wholeNumber('<n>', 1), after: text('<id>') },
      help: 'List accounts, oldest first.',
      run: list,
    }),
    action({ name: 'show', args: ['id'], help: "Show an account's plan, credits and keys.", run: show }),
    action({
      name: 'create',
      options: { plan: required(text('<plan>')), name: text('<name>') },
      help: 'Create an account.',
      run: create,
    }),
    action({
      name: 'approve',
      args: ['id'],
      help: 'Turn on the live keys of an account that signed up without a confirmed email address.',
      run: approve,
    }),
    action({
      name: 'suspend',
      args: ['id'],
      help: 'Suspend all keys of the account immediately.',
      run: async (task, { id }) => await setSuspended(task, id, true),
    }),
    action({
      name: 'resume',
      args: ['id'],
      help: 'Resume all keys of the account immediately.',
      run: async (task, { id }) => await setSuspended(task, id, false),
    }),
    action({
      name: 'plan',
      args: ['id', 'plan'],
      options: { now: flag },
      help: 'Change the plan, and approve the account. Upgrades apply immediately, downgrades in the next billing period unless you add --now.',
      run: changePlan,
    }),
    action({
      name: 'cancel',
      args: ['id'],
      help: 'Cancel the subscription at the end of the billing period.',
      run: cancel,
    }),
    action({
      name: 'renew',
      args: ['id'],
      help: 'Undo a cancellation, or start an ended subscription again.',
      run: renew,
    }),
  ],
  notes: ['"storybar plans" lists the plans. Every change is recorded; see "storybar audit".'],
  withTask: async (print, use) => {
    const settings = readSettings();
    const plans = loadPlans(settings);
    await withStore(settings, async (store) => await use({ store, plans, print }));
  },
};

export async function accountsCommand(args: string[]): Promise<void> {
  await runActions(COMMAND, args);
}

async function list(
  { store, print }: Task,
  { count, after }: { count: number | undefined; after: string | undefined },
): Promise<void> {
  const accounts = await store.accounts.list({ count, after });
  const rows = accounts.map(({ id, name, state, subscription, createdAt }) => [
    id,
    name,
    state,
    subscription?.plan,
    subscription?.period.endsAt.toISOString().slice(0, 10),
    createdAt.slice(0, 10),
  ]);
  print(accounts, table(['id', 'name', 'state', 'plan', 'period ends', 'created'], rows, 'No accounts yet.'));
}

async function show({ store, plans, print }: Task, { id }: { id: string }): Promise<void> {
  const account = await find(store, id);
  const { subscription } = account;
  // A plan that was removed from the plans file has no credits.
  const limit = (subscription && plans.find(subscription.plan)?.credits) ?? 0;
  const balance = subscription && (await store.ledger.balance(account.id, subscription.period, limit));
  const deliveries = subscription && (await store.ledger.deliveries(account.id, subscription.period));
  const keys = await store.keys.list(account.id);
  const credits = balance && {
    used: balance.used,
    reserved: balance.reserved,
    limit,
    remaining: remaining(balance),
  };
  const description = facts([
    ['account', account.id],
    ['name', account.name],
    ['state', account.state],
    ['created', account.createdAt],
    ['plan', subscription ? describePlan(subscription) : 'none'],
    ['period', subscription && `${iso(subscription.period.startsAt)} to ${iso(subscription.period.endsAt)}`],
    ['credits', credits && `${credits.used} used, ${credits.reserved} reserved, ${credits.remaining} of ${limit} left`],
    ['broken', deliveries && describeBroken(deliveries)],
    ['keys', keys.length],
  ]);
  print({ ...account, credits: credits ?? null, deliveries: deliveries ?? null, keys }, description);
}

function describeBroken(deliveries: DeliveryCounts): string {
  const { brokenFree, brokenCharged } = deliveries;
  return `${brokenFree + brokenCharged} deliveries, ${brokenCharged} of them charged; ${allowedBroken(deliveries)} are free in this period`;
}

async function create(
  { store, plans, print }: Task,
  { plan, name }: { plan: string; name: string | undefined },
): Promise<void> {
  assertPlan(plans, plan);
  const id = await openAccount(store, plan, name ?? 'unnamed', commandLineActor());
  const next = `Create a key for it with: storybar keys create --account ${id}`;
  print({ id, plan }, `Created account ${id} on plan ${plan}. ${next}\n`);
}

async function approve({ store, print }: Task, { id }: { id: string }): Promise<void> {
  const account = await find(store, id);
  await store.accounts.approve(account.id, commandLineActor());
  const { state } = await find(store, id);
  print({ id: account.id, state }, `Account ${account.id} is approved.\n`);
}

async function setSuspended({ store, print }: Task, accountId: string, suspended: boolean): Promise<void> {
  const { id } = await find(store, accountId);
  await store.accounts.setSuspended(id, suspended, commandLineActor());
  const { state } = await find(store, id);
  print({ id, state }, `Account ${id} is ${state}.\n`);
}

async function changePlan(
  { store, plans, print }: Task,
  { id, plan, now }: { id: string; plan: string; now: boolean },
): Promise<void> {
  const account = await find(store, id);
  assertPlan(plans, plan);
  assertManagedHere(account);
  await store.accounts.approve(account.id, commandLineActor());
  const isImmediate = now || plans.isUpgrade(account.subscription?.plan ?? '', plan);
  const when = isImmediate ? 'now' : 'next period';
  report(account.id, await store.accounts.subscribe(account.id, plan, when, commandLineActor()), print);
}

async function cancel({ store, print }: Task, { id }: { id: string }): Promise<void> {
  const account = await find(store, id);
  assertManagedHere(account);
  if (!(await store.accounts.setRenews(account.id, false, commandLineActor()))) {
    throw new AppError('subscription_inactive', `Account ${account.id} has no active subscription.`);
  }
  await reportCurrent(store, account.id, print);
}

async function renew({ store, plans, print }: Task, { id }: { id: string }): Promise<void> {
  const account = await find(store, id);
  assertManagedHere(account);
  if (!(await store.accounts.setRenews(account.id, true, commandLineActor()))) {
    const plan = account.subscription?.plan;
    if (plan === undefined) {
      throw new UsageError(`account ${id} never had a plan; choose one with: storybar accounts plan ${id} <plan>`);
    }
    assertPlan(plans, plan);
    await store.accounts.subscribe(account.id, plan, 'now', commandLineActor());
  }
  await reportCurrent(store, account.id, print);
}

async function reportCurrent(store: Store, id: string, print: Print): Promise<void> {
  const { subscription } = await find(store, id);
  if (subscription) report(id, subscription, print);
}

function report(id: string, subscription: Subscription, print: Print): void {
  print({ id, subscription }, `Account ${id}: ${describePlan(subscription)}.\n`);
}

function describePlan({ plan, nextPlan, status, renews, provider, period }: Subscription): string {
  const paid = provider === 'manual' ? '' : `, through ${provider}`;
  const day = iso(period.endsAt);
  if (status === 'inactive') return `${plan}, ended${paid}`;
  if (!renews) return `${plan}, ends ${day}${paid}`;
  return nextPlan === null ? `${plan}, renews ${day}${paid}` : `${plan}, then ${nextPlan} from ${day}${paid}`;
}

async function find(store: Store, id: string): Promise<AccountSummary> {
  const account = await store.accounts.find(id);
  if (account === undefined) throw new AppError('not_found', `Account "${id}" not found.`);
  return account;
}

function assertPlan(plans: PlanBook, name: string): void {
  if (plans.find(name) !== undefined) return;
  throw new UsageError(`unknown plan "${name}"; the plans are ${plans.names.join(', ')}`);
}

/** A change made here would be overwritten by the provider's next message. */
function assertManagedHere({ subscription }: AccountSummary): void {
  if (subscription?.status !== 'active' || subscription.provider === 'manual') return;
  const provider = subscription.provider === 'stripe' ? 'the payment provider' : 'the marketplace';
  throw new UsageError(
    `this subscription is managed by ${provider}; change it there, or use "storybar accounts suspend" to stop its keys`,
  );
}

function iso(date: Date): string {
  return date.toISOString().slice(0, 16).replace('T', ' ');
}
