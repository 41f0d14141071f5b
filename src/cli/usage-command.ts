// `storybar usage` shows how many renders and credits accounts used.

import { readSettings } from '../service/config/settings.ts';
import { AppError } from '../shared/errors.ts';
import type { Store } from '../service/store/store.ts';
import { UsageError } from './exit-codes.ts';
import { day, text } from './options.ts';
import { withStore } from '../main/open-store.ts';
import { type Print, table } from './print.ts';
import { action, type Command, runActions } from './run-actions.ts';

/** The default range is 30 days, including the last day. */
const DEFAULT_SPAN_MS = 29 * 86_400_000;

interface Task {
  readonly print: Print;
}

interface Range {
  readonly from: string;
  readonly to: string;
}

const COMMAND: Command<Task> = {
  name: 'usage',
  actions: [
    action({
      options: { account: text('<id>'), from: day('<date>'), to: day('<date>') },
      help:
        'Show renders and credits per account, or per day for the account given with --account.\n' +
        'Dates are in UTC, such as 2026-01-31, and inclusive. The default is the last 30 days.\n' +
        '"broken" counts deliveries that the client broke off. See docs/operating-accounts.md for when they are charged.',
      run: showUsage,
    }),
  ],
  withTask: async (print, use) => await use({ print }),
};

export async function usageCommand(args: string[]): Promise<void> {
  await runActions(COMMAND, args);
}

async function showUsage(
  { print }: Task,
  input: { account: string | undefined; from: string | undefined; to: string | undefined },
): Promise<void> {
  const { account, to = new Date().toISOString().slice(0, 10) } = input;
  const { from = new Date(Date.parse(to) - DEFAULT_SPAN_MS).toISOString().slice(0, 10) } = input;
  if (from > to) throw new UsageError(`--from ${from} is after --to ${to}`);
  await withStore(readSettings(), async (store) => {
    if (account === undefined) await showTotals(store, { from, to }, print);
    else await showDays(store, account, { from, to }, print);
  });
}

async function showTotals(store: Store, { from, to }: Range, print: Print): Promise<void> {
  const totals = await store.usage.totals(from, to);
  const rows = totals.map(({ accountId, mode, renders, delivered, broken, brokenCharged, credits }) => [
    accountId,
    mode,
    renders,
    delivered,
    broken,
    brokenCharged,
    credits,
  ]);
  const headers = ['account', 'mode', 'renders', 'delivered', 'broken', 'broken, charged', 'credits'];
  print({ from, to, accounts: totals }, table(headers, rows, `No renders from ${from} to ${to}.`));
}

async function showDays(store: Store, account: string, { from, to }: Range, print: Print): Promise<void> {
  if ((await store.accounts.find(account)) === undefined) {
    throw new AppError('not_found', `Account "${account}" not found.`);
  }
  const days = await store.usage.days(account, from, to);
  const rows = days.map((each) => [each.day, each.mode, each.outcome, each.renders, each.credits]);
  const headers = ['day', 'mode', 'outcome', 'renders', 'credits'];
  print({ from, to, account, days }, table(headers, rows, `No renders from ${from} to ${to}.`));
}
