// `storybar plans` shows the plans in use and checks plans files.

import path from 'node:path';
import type { Plan, PlanBook } from '../service/account/plans.ts';
import { readSettings } from '../service/config/settings.ts';
import { loadPlans } from '../main/load-plans.ts';
import { type Print, table } from './print.ts';
import { action, type Command, runActions } from './run-actions.ts';

interface Task {
  readonly print: Print;
}

const COMMAND: Command<Task> = {
  name: 'plans',
  actions: [
    action({
      name: 'list',
      help: 'List the plans in use. With --json, print a plans file that you can edit. This is the default action.',
      run: list,
    }),
    action({ name: 'check', args: ['file'], help: 'Check a plans file and report every error in it.', run: check }),
  ],
  defaultAction: 'list',
  notes: ['docs/plans.md describes the plans file.'],
  withTask: async (print, use) => await use({ print }),
};

export async function plansCommand(args: string[]): Promise<void> {
  await runActions(COMMAND, args);
}

async function list({ print }: Task): Promise<void> {
  const book = loadPlans(readSettings());
  print(toFile(book), describe(book), 2);
}

async function check({ print }: Task, { file }: { file: string }): Promise<void> {
  const book = loadPlans({ plansFile: path.resolve(file) });
  print({ ok: true, plans: book.names }, `${describe(book)}\n${file} is valid.\n`);
}

function describe({ plans, currency, marketplace }: PlanBook): string {
  const headers = ['plan', 'title', `${currency}/month`, 'credits', 'requests/min', 'concurrent', 'marketplace'];
  const rows = plans.map(({ name, title, monthlyPriceCents, credits, requestsPerMinute, concurrentRenders }) => [
    name,
    title,
    (monthlyPriceCents / 100).toFixed(2),
    credits,
    requestsPerMinute,
    concurrentRenders,
    Object.keys(marketplace)
      .filter((key) => marketplace[key] === name)
      .join(', '),
  ]);
  return table(headers, rows, 'No plans.');
}

/** Returns the plans in the format of the plans file. */
function toFile({ plans, currency, marketplace }: PlanBook): Record<string, unknown> & { plans: readonly Plan[] } {
  return { currency, plans, marketplace };
}
