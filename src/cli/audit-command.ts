// `storybar audit`: who changed what, and when.

import { parseArgs } from 'node:util';
import { readSettings } from '../config/settings.ts';
import { wholeNumber } from './argument-values.ts';
import { withStore } from '../main/open-store.ts';
import { printer, table } from './print.ts';

const HELP = `storybar audit [--account <id>] [--count <n>] [--before <number>] [--json]

Changes of accounts, subscriptions and keys, newest first; 50 unless --count says otherwise. To go further back, give
the last number as --before.
`;

export async function auditCommand(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      account: { type: 'string' },
      count: { type: 'string', default: '50' },
      before: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const count = wholeNumber('--count', values.count, 1);
  const before = values.before === undefined ? undefined : wholeNumber('--before', values.before, 1);
  await withStore(readSettings(), async (store) => {
    const entries = await store.audit.list({ accountId: values.account, before, count });
    const rows = entries.map(({ seq, at, actor, action, subject, details }) => [
      ...[seq, at, actor, action, subject],
      Object.keys(details).length === 0 ? '' : JSON.stringify(details),
    ]);
    printer(values.json)(entries, table(['number', 'at', 'who', 'what', 'of', 'details'], rows, 'Nothing noted.'));
  });
}
