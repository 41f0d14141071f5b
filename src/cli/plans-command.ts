// `storybar plans`: what is sold, and whether a file that describes it is right.

import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Plan, PlanBook } from '../account/plans.ts';
import { readSettings } from '../config/settings.ts';
import { UsageError } from './exit-codes.ts';
import { loadPlans } from '../main/load-plans.ts';
import { printer, table } from './print.ts';

const HELP = `storybar plans [list] [--json]       the plans in use; --json prints a plans file to begin with
storybar plans check <file> [--json] every fault of a plans file at once

docs/plans.md describes the file.
`;

export async function plansCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } },
  });
  const [action = 'list', file] = positionals;
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  if (action === 'list') {
    const book = loadPlans(readSettings());
    process.stdout.write(values.json ? `${JSON.stringify(toFile(book), null, 2)}\n` : describe(book));
  } else if (action === 'check') {
    if (file === undefined) throw new UsageError('name the file: storybar plans check <file>');
    const book = loadPlans({ plansFile: path.resolve(file) });
    printer(values.json)({ ok: true, plans: book.names }, `${describe(book)}\n${file} is in order.\n`);
  } else throw new UsageError(`there is no "plans ${action}"; the actions are list, check`);
}

function describe({ plans, currency, marketplace }: PlanBook): string {
  const headers = ['plan', 'title', `${currency} a month`, 'credits', 'requests/min', 'at once', 'marketplace'];
  const rows = plans.map(({ name, title, monthlyPriceCents, credits, requestsPerMinute, concurrentRenders }) => [
    ...[name, title, (monthlyPriceCents / 100).toFixed(2), credits, requestsPerMinute, concurrentRenders],
    Object.keys(marketplace)
      .filter((key) => marketplace[key] === name)
      .join(', '),
  ]);
  return table(headers, rows, 'No plans.');
}

/** In the format that is read. */
function toFile({ plans, currency, marketplace }: PlanBook): Record<string, unknown> & { plans: readonly Plan[] } {
  return { currency, plans, marketplace };
}
