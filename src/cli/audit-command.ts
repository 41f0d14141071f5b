// `storybar audit` shows who changed which account, subscription or key, and when.

import { readSettings } from '../service/config/settings.ts';
import { text, wholeNumber } from './options.ts';
import { withStore } from '../main/open-store.ts';
import { type Print, table } from './print.ts';
import { action, type Command, runActions } from './run-actions.ts';

const DEFAULT_COUNT = 50;

interface Task {
  readonly print: Print;
}

const COMMAND: Command<Task> = {
  name: 'audit',
  actions: [
    action({
      options: { account: text('<id>'), count: wholeNumber('<n>', 1), before: wholeNumber('<number>', 1) },
      help:
        `List changes to accounts, subscriptions and keys, newest first: ${DEFAULT_COUNT}, or the number in --count.\n` +
        'To see older ones, pass the last number as --before.',
      run: listEntries,
    }),
  ],
  withTask: async (print, use) => await use({ print }),
};

export async function auditCommand(args: string[]): Promise<void> {
  await runActions(COMMAND, args);
}

async function listEntries(
  { print }: Task,
  input: { account: string | undefined; count: number | undefined; before: number | undefined },
): Promise<void> {
  const { account, count = DEFAULT_COUNT, before } = input;
  await withStore(readSettings(), async (store) => {
    const entries = await store.audit.list({ accountId: account, before, count });
    const rows = entries.map(({ seq, at, actor, action: change, subject, details }) => [
      seq,
      at,
      actor,
      change,
      subject,
      Object.keys(details).length === 0 ? '' : JSON.stringify(details),
    ]);
    print(entries, table(['number', 'time', 'actor', 'action', 'subject', 'details'], rows, 'No entries.'));
  });
}
