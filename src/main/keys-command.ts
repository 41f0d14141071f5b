// `storybar keys`: works on the store directly, beside a running server.

import { parseArgs } from 'node:util';
import type { KeyState } from '../account/access.ts';
import { isPlanName, PLAN_NAMES } from '../account/plan.ts';
import { readSettings } from '../config/settings.ts';
import { AppError } from '../errors.ts';
import type { KeySummary, Store } from '../store/store.ts';
import { UsageError } from './exit-codes.ts';
import { issueKey } from './issue-key.ts';
import { openStore } from './store-file.ts';

const HELP = `storybar keys create --plan <${PLAN_NAMES.join('|')}> [--name <name>] [--test] [--json]
storybar keys list [--json]
storybar keys suspend|resume|revoke <id> [--json]
`;

const STATE_AFTER: Readonly<Record<string, KeyState>> = { suspend: 'suspended', resume: 'active', revoke: 'revoked' };

export async function keysCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      plan: { type: 'string' },
      name: { type: 'string' },
      test: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [action, id] = positionals;
  if (values.help || action === undefined) {
    process.stdout.write(HELP);
    return;
  }
  const print = (data: unknown, text: string): void => {
    process.stdout.write(values.json ? `${JSON.stringify(data)}\n` : text);
  };
  const store = openStore(readSettings());
  try {
    const state = Object.hasOwn(STATE_AFTER, action) ? STATE_AFTER[action] : undefined;
    if (action === 'create') await create(store, values, print);
    else if (action === 'list') await list(store, print);
    else if (state !== undefined) await change(store, id, state, print);
    else throw new UsageError(`there is no "keys ${action}"; the actions are create, list, suspend, resume, revoke`);
  } finally {
    await store.close();
  }
}

type Print = (data: unknown, text: string) => void;

async function create(
  store: Store,
  { plan, name, test }: { plan?: string | undefined; name?: string | undefined; test: boolean },
  print: Print,
): Promise<void> {
  if (plan === undefined) throw new UsageError(`--plan is required: one of ${PLAN_NAMES.join(', ')}`);
  if (!isPlanName(plan)) throw new UsageError(`there is no plan "${plan}"; the plans are ${PLAN_NAMES.join(', ')}`);
  const issued = await issueKey(store, plan, name ?? 'unnamed', test ? 'test' : 'live');
  print(issued, `${issued.key}\n\nKey ${issued.id} on plan ${plan}. It is shown only this once.\n`);
}

async function list(store: Store, print: Print): Promise<void> {
  const keys = await store.listKeys();
  print(keys, keys.length === 0 ? 'No keys yet.\n' : `${keys.map(describeKey).join('\n')}\n`);
}

function describeKey(key: KeySummary): string {
  const used = key.lastUsedAt === null ? 'never used' : `last used ${key.lastUsedAt}`;
  return `${key.id}  ${key.prefix}...${key.lastFour}  ${key.plan}  ${key.state}  ${key.name}  (${used})`;
}

async function change(store: Store, id: string | undefined, state: KeyState, print: Print): Promise<void> {
  if (id === undefined) throw new UsageError('name the key by its id; "storybar keys list" shows them');
  if (!(await store.setKeyState(id, state))) {
    throw new AppError('not_found', `There is no key "${id}" that could be changed; a revoked key stays revoked.`);
  }
  print({ id, state }, `Key ${id} is ${state}.\n`);
}
