// `storybar keys`: works on the store directly, beside a running server.

import { parseArgs } from 'node:util';
import type { KeyState } from '../account/access.ts';
import { readSettings, type Settings } from '../config/settings.ts';
import { AppError } from '../errors.ts';
import type { KeySummary, Store } from '../store/store.ts';
import { commandLineActor } from './actor.ts';
import { UsageError } from './exit-codes.ts';
import { issueKey, openAccount } from './issue-key.ts';
import { loadPlans } from './load-plans.ts';
import { openStore } from './open-store.ts';

const HELP = `storybar keys create --plan <name> [--name <name>] [--test] [--json]    a new account with its first key
storybar keys create --account <id> [--name <name>] [--test] [--json]  another key for an account
storybar keys list [--account <id>] [--json]
storybar keys suspend|resume|revoke <id> [--json]

"storybar plans" shows the plans there are.
`;

const STATE_AFTER: Readonly<Record<string, KeyState>> = { suspend: 'suspended', resume: 'active', revoke: 'revoked' };

interface Options {
  readonly plan?: string | undefined;
  readonly account?: string | undefined;
  readonly name?: string | undefined;
  readonly test: boolean;
}

type Print = (data: unknown, text: string) => void;

export async function keysCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      plan: { type: 'string' },
      account: { type: 'string' },
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
  const print: Print = (data, text) => {
    process.stdout.write(values.json ? `${JSON.stringify(data)}\n` : text);
  };
  const settings = readSettings();
  const store = await openStore(settings);
  try {
    const state = Object.hasOwn(STATE_AFTER, action) ? STATE_AFTER[action] : undefined;
    if (action === 'create') await create(store, settings, values, print);
    else if (action === 'list') await list(store, values.account, print);
    else if (state !== undefined) await change(store, id, state, print);
    else throw new UsageError(`there is no "keys ${action}"; the actions are create, list, suspend, resume, revoke`);
  } finally {
    await store.close();
  }
}

async function create(store: Store, settings: Settings, options: Options, print: Print): Promise<void> {
  const actor = commandLineActor();
  const name = options.name ?? 'unnamed';
  const { accountId, plan } = await accountFor(store, settings, options, name);
  const issued = await issueKey(store, accountId, { name, mode: options.test ? 'test' : 'live' }, actor);
  const text = `${issued.key}\n\nKey ${issued.id} on plan ${plan}. It is shown only this once.\n`;
  print({ ...issued, plan, account: accountId }, text);
}

async function accountFor(
  store: Store,
  settings: Settings,
  { plan, account }: Options,
  name: string,
): Promise<{ accountId: string; plan: string }> {
  if (account !== undefined) {
    if (plan !== undefined) throw new UsageError('--account has its plan; leave out --plan');
    const found = await store.accounts.find(account);
    if (found === undefined) throw new AppError('not_found', `There is no account "${account}".`);
    return { accountId: account, plan: found.subscription?.plan ?? 'none' };
  }
  const names = loadPlans(settings).names.join(', ');
  if (plan === undefined) throw new UsageError(`--plan is required: one of ${names}`);
  if (loadPlans(settings).find(plan) === undefined) {
    throw new UsageError(`there is no plan "${plan}"; the plans are ${names}`);
  }
  return { accountId: await openAccount(store, plan, name, commandLineActor()), plan };
}

async function list(store: Store, account: string | undefined, print: Print): Promise<void> {
  const keys = await store.keys.list(account);
  print(keys, keys.length === 0 ? 'No keys yet.\n' : `${keys.map(describeKey).join('\n')}\n`);
}

function describeKey(key: KeySummary): string {
  const used = key.lastUsedAt === null ? 'never used' : `last used ${key.lastUsedAt}`;
  return `${key.id}  ${key.prefix}...${key.lastFour}  ${key.plan ?? 'no plan'}  ${key.state}  ${key.name}  (${used})`;
}

async function change(store: Store, id: string | undefined, state: KeyState, print: Print): Promise<void> {
  if (id === undefined) throw new UsageError('name the key by its id; "storybar keys list" shows them');
  if (!(await store.keys.setState(id, state, commandLineActor()))) {
    throw new AppError('not_found', `There is no key "${id}" that could be changed; a revoked key stays revoked.`);
  }
  print({ id, state }, `Key ${id} is ${state}.\n`);
}
