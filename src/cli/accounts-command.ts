// `storybar accounts`: works on the store directly, beside a running server.

import { parseArgs } from 'node:util';
import { remaining } from '../account/credits.ts';
import type { PlanBook } from '../account/plans.ts';
import type { Subscription } from '../account/subscription.ts';
import { readSettings } from '../config/settings.ts';
import { AppError } from '../errors.ts';
import type { AccountSummary, Store } from '../store/store.ts';
import { commandLineActor } from './actor.ts';
import { wholeNumber } from './argument-values.ts';
import { UsageError } from './exit-codes.ts';
import { openAccount } from '../main/issue-key.ts';
import { loadPlans } from '../main/load-plans.ts';
import { withStore } from '../main/open-store.ts';
import { facts, type Print, printer, table } from './print.ts';

const HELP = `storybar accounts list [--count <n>] [--after <id>]   oldest first
storybar accounts show <id>                          plan, credits and keys
storybar accounts create --plan <plan> [--name <name>]
storybar accounts suspend|resume <id>                stops or lets pass all its keys, at once
storybar accounts plan <id> <plan> [--now]           more at once, less with the next period; --now: at once
storybar accounts cancel <id>                        ends when the period does
storybar accounts renew <id>                         takes that back; one that has ended starts again

All take --json. Each change is noted in the audit log; "storybar audit" shows it.
`;

interface Task {
  readonly store: Store;
  readonly plans: PlanBook;
  readonly print: Print;
  readonly words: readonly string[];
  readonly options: Options;
}

interface Options {
  readonly plan?: string | undefined;
  readonly name?: string | undefined;
  readonly count?: string | undefined;
  readonly after?: string | undefined;
  readonly now: boolean;
}

const ACTIONS: Readonly<Record<string, (task: Task) => Promise<void>>> = {
  list,
  show,
  create,
  suspend: async (task) => await setSuspended(task, true),
  resume: async (task) => await setSuspended(task, false),
  plan: changePlan,
  cancel,
  renew,
};

export async function accountsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      plan: { type: 'string' },
      name: { type: 'string' },
      count: { type: 'string' },
      after: { type: 'string' },
      now: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [name, ...words] = positionals;
  if (values.help || name === undefined) {
    process.stdout.write(HELP);
    return;
  }
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    throw new UsageError(`there is no "accounts ${name}"; the actions are ${Object.keys(ACTIONS).join(', ')}`);
  }
  const settings = readSettings();
  const plans = loadPlans(settings);
  const print = printer(values.json);
  await withStore(settings, async (store) => await action({ store, plans, print, words, options: values }));
}

async function list({ store, print, options }: Task): Promise<void> {
  const count = options.count === undefined ? undefined : wholeNumber('--count', options.count, 1);
  const accounts = await store.accounts.list({ count, after: options.after });
  const rows = accounts.map(({ id, name, state, subscription, createdAt }) => [
    ...[id, name, state, subscription?.plan, subscription?.period.endsAt.toISOString().slice(0, 10)],
    createdAt.slice(0, 10),
  ]);
  print(accounts, table(['id', 'name', 'state', 'plan', 'period ends', 'created'], rows, 'No accounts yet.'));
}

async function show({ store, plans, print, words }: Task): Promise<void> {
  const account = await find(store, words);
  const { subscription } = account;
  const limit = (subscription && plans.find(subscription.plan)?.credits) ?? 0;
  const balance = subscription && (await store.ledger.balance(account.id, subscription.period, limit));
  const keys = await store.keys.list(account.id);
  const credits = balance && {
    ...{ used: balance.used, reserved: balance.reserved, limit, remaining: remaining(balance) },
  };
  const text = facts([
    ['account', account.id],
    ['name', account.name],
    ['state', account.state],
    ['created', account.createdAt],
    ['plan', subscription ? describePlan(subscription) : 'none'],
    ['period', subscription && `${iso(subscription.period.startsAt)} to ${iso(subscription.period.endsAt)}`],
    ['credits', credits && `${credits.used} used, ${credits.reserved} held, ${credits.remaining} of ${limit} left`],
    ['keys', keys.length],
  ]);
  print({ ...account, credits: credits ?? null, keys }, text);
}

async function create({ store, plans, print, options }: Task): Promise<void> {
  const plan = planNamed(plans, options.plan, '--plan');
  const id = await openAccount(store, plan, options.name ?? 'unnamed', commandLineActor());
  const next = `Give it a key with: storybar keys create --account ${id}`;
  print({ id, plan }, `Account ${id} on plan ${plan}. ${next}\n`);
}

async function setSuspended({ store, print, words }: Task, suspended: boolean): Promise<void> {
  const { id } = await find(store, words);
  await store.accounts.setSuspended(id, suspended, commandLineActor());
  const state = (await store.accounts.find(id))?.state;
  print({ id, state }, `Account ${id} is ${state}.\n`);
}

async function changePlan({ store, plans, print, words, options }: Task): Promise<void> {
  const account = await find(store, words);
  const plan = planNamed(plans, words[1], 'accounts plan <id>');
  refuseWhereOthersDecide(account);
  const atOnce = options.now || plans.isUpgrade(account.subscription?.plan ?? '', plan);
  const when = atOnce ? 'now' : 'next period';
  report(account.id, await store.accounts.subscribe(account.id, plan, when, commandLineActor()), print);
}

async function cancel({ store, print, words }: Task): Promise<void> {
  const account = await find(store, words);
  refuseWhereOthersDecide(account);
  if (!(await store.accounts.setRenews(account.id, false, commandLineActor()))) {
    throw new AppError('subscription_inactive', `Account ${account.id} has no active subscription.`);
  }
  await reportNow(store, account.id, print);
}

async function renew({ store, plans, print, words }: Task): Promise<void> {
  const account = await find(store, words);
  refuseWhereOthersDecide(account);
  if (!(await store.accounts.setRenews(account.id, true, commandLineActor()))) {
    const plan = planNamed(plans, account.subscription?.plan, 'accounts renew: its plan');
    await store.accounts.subscribe(account.id, plan, 'now', commandLineActor());
  }
  await reportNow(store, account.id, print);
}

async function reportNow(store: Store, id: string, print: Print): Promise<void> {
  const subscription = (await store.accounts.find(id))?.subscription;
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

async function find(store: Store, [id]: readonly string[]): Promise<AccountSummary> {
  if (id === undefined) throw new UsageError('name the account by its id; "storybar accounts list" shows them');
  const account = await store.accounts.find(id);
  if (account === undefined) throw new AppError('not_found', `There is no account "${id}".`);
  return account;
}

function planNamed(plans: PlanBook, name: string | undefined, where: string): string {
  if (name === undefined) throw new UsageError(`${where} needs a plan: one of ${plans.names.join(', ')}`);
  if (plans.find(name) !== undefined) return name;
  throw new UsageError(`there is no plan "${name}"; the plans are ${plans.names.join(', ')}`);
}

/** A change here would last until the next message from there, and nobody would know which of the two holds. */
function refuseWhereOthersDecide({ subscription }: AccountSummary): void {
  if (subscription?.status !== 'active' || subscription.provider === 'manual') return;
  const where = subscription.provider === 'stripe' ? 'at the payment provider' : 'by the marketplace';
  throw new UsageError(`this subscription is decided ${where}; change it there. "accounts suspend" stops its keys`);
}

function iso(date: Date): string {
  return date.toISOString().slice(0, 16).replace('T', ' ');
}
