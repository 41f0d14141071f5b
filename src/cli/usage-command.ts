// `storybar usage`: who rendered how much.

import { parseArgs } from 'node:util';
import { readSettings } from '../config/settings.ts';
import { AppError } from '../errors.ts';
import { day } from './argument-values.ts';
import { UsageError } from './exit-codes.ts';
import { withStore } from '../main/open-store.ts';
import { printer, table } from './print.ts';

const HELP = `storybar usage [--from <day>] [--to <day>] [--json]                sums of each account
storybar usage --account <id> [--from <day>] [--to <day>] [--json]  one account, day by day

Days are UTC, like 2026-01-31, both included. Default: the last 30 days.
`;

const SPAN_MS = 29 * 86_400_000;

export async function usageCommand(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      account: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const to = day('--to', values.to ?? new Date().toISOString().slice(0, 10));
  const from = day('--from', values.from ?? new Date(Date.parse(to) - SPAN_MS).toISOString().slice(0, 10));
  if (from > to) throw new UsageError(`--from ${from} is after --to ${to}`);
  const print = printer(values.json);
  const nothing = `Nothing from ${from} to ${to}.`;
  await withStore(readSettings(), async (store) => {
    if (values.account === undefined) {
      const totals = await store.usage.totals(from, to);
      const rows = totals.map((each) => [each.accountId, each.mode, each.renders, each.delivered, each.credits]);
      print({ from, to, accounts: totals }, table(['account', 'mode', 'asked', 'delivered', 'credits'], rows, nothing));
      return;
    }
    if ((await store.accounts.find(values.account)) === undefined) {
      throw new AppError('not_found', `There is no account "${values.account}".`);
    }
    const days = await store.usage.days(values.account, from, to);
    const rows = days.map((each) => [each.day, each.mode, each.outcome, each.renders, each.credits]);
    print(
      { from, to, account: values.account, days },
      table(['day', 'mode', 'outcome', 'renders', 'credits'], rows, nothing),
    );
  });
}
