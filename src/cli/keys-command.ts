// `storybar keys`: works on the store directly, beside a running server.

import { parseArgs } from 'node:util';
import type { KeyState } from '../account/access.ts';
import { parseOrigin } from '../account/web-origin.ts';
import { readSettings, type Settings } from '../config/settings.ts';
import { AppError } from '../errors.ts';
import type { KeySummary, Store } from '../store/store.ts';
import { commandLineActor } from './actor.ts';
import { wholeNumber } from './argument-values.ts';
import { UsageError } from './exit-codes.ts';
import { issueKey, openAccount } from '../main/issue-key.ts';
import { loadPlans } from '../main/load-plans.ts';
import { withStore } from '../main/open-store.ts';
import { type Print, printer, table } from './print.ts';

const HELP = `storybar keys create --plan <name> [--name <name>] [--test] [--json]    a new account with its first key
storybar keys create --account <id> [--name <name>] [--test] [--json]  another key for an account
storybar keys list [--account <id>] [--json]
storybar keys suspend|resume|revoke <id> [--json]
storybar keys rotate <id> [--overlap <hours>] [--json]   a new key like it; the old one works for 24 more hours, or as said
storybar keys rename <id> <name> [--json]
storybar keys origins <id> [<origin> ...] [--json]       web pages that may use it, like https://example.com; none: no page

"storybar plans" shows the plans there are.
`;

interface Options {
  readonly plan?: string | undefined;
  readonly account?: string | undefined;
  readonly name?: string | undefined;
  readonly overlap: string;
  readonly test: boolean;
}

interface Task {
  readonly store: Store;
  readonly settings: Settings;
  readonly options: Options;
  readonly print: Print;
  readonly words: readonly string[];
}

const ACTIONS: Readonly<Record<string, (task: Task) => Promise<void>>> = {
  create,
  list,
  suspend: async (task) => await setState(task, 'suspended'),
  resume: async (task) => await setState(task, 'active'),
  revoke: async (task) => await setState(task, 'revoked'),
  rotate,
  rename,
  origins,
};

export async function keysCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      plan: { type: 'string' },
      account: { type: 'string' },
      name: { type: 'string' },
      overlap: { type: 'string', default: '24' },
      test: { type: 'boolean', default: false },
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
    throw new UsageError(`there is no "keys ${name}"; the actions are ${Object.keys(ACTIONS).join(', ')}`);
  }
  const settings = readSettings();
  const print = printer(values.json);
  await withStore(settings, async (store) => await action({ store, settings, options: values, print, words }));
}

async function create({ store, settings, options, print }: Task): Promise<void> {
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

async function list({ store, options, print }: Task): Promise<void> {
  const keys = await store.keys.list(options.account);
  const headers = ['id', 'key', 'name', 'plan', 'mode', 'state', 'account', 'last used'];
  const rows = keys.map((key) => [
    ...[key.id, `${key.prefix}...${key.lastFour}`, key.name, key.plan, key.mode],
    ...[describeState(key), key.accountId, key.lastUsedAt ?? 'never'],
  ]);
  print(keys, table(headers, rows, 'No keys yet.'));
}

function describeState({ state, accountState, expiresAt }: KeySummary): string {
  if (state !== 'active') return state;
  if (accountState !== 'active') return `account ${accountState}`;
  return expiresAt === null ? state : `until ${expiresAt.slice(0, 16)}`;
}

async function setState({ store, words: [id], print }: Task, state: KeyState): Promise<void> {
  const key = await find(store, id);
  changed(key.id, await store.keys.setState(key.id, state, commandLineActor()));
  print({ id: key.id, state }, `Key ${key.id} is ${state}.\n`);
}

/** The new one first: if the second step fails there are two keys, not none. */
async function rotate({ store, words: [id], options, print }: Task): Promise<void> {
  const hours = wholeNumber('--overlap', options.overlap, 0);
  const { id: oldId, accountId, name, mode, allowedOrigins, state } = await find(store, id);
  changed(oldId, state !== 'revoked');
  const actor = commandLineActor();
  const issued = await issueKey(store, accountId, { name, mode, allowedOrigins }, actor);
  const until = new Date(Date.now() + hours * 3_600_000);
  changed(oldId, await store.keys.expireAt(oldId, until, actor));
  const end = hours === 0 ? 'has stopped working' : `works until ${until.toISOString()}`;
  const text = `${issued.key}\n\nKey ${issued.id}. It is shown only this once. Key ${oldId} ${end}.\n`;
  print({ ...issued, account: accountId, replaces: oldId, oldKeyWorksUntil: until.toISOString() }, text);
}

async function rename({ store, words: [id, name = ''], print }: Task): Promise<void> {
  const key = await find(store, id);
  if (name.trim() === '') throw new UsageError('say the new name: storybar keys rename <id> <name>');
  changed(key.id, await store.keys.rename(key.id, name, commandLineActor()));
  print({ id: key.id, name }, `Key ${key.id} is now called ${name}.\n`);
}

async function origins({ store, words: [id, ...pages], print }: Task): Promise<void> {
  const key = await find(store, id);
  const bad = pages.filter((page) => parseOrigin(page) !== page);
  if (bad.length > 0) throw new UsageError(`not an origin like https://example.com: ${bad.join(', ')}`);
  changed(key.id, await store.keys.setAllowedOrigins(key.id, pages, commandLineActor()));
  const text = pages.length === 0 ? 'no web page' : pages.join(', ');
  print({ id: key.id, allowedOrigins: pages }, `Key ${key.id} may be used by ${text}.\n`);
}

async function find(store: Store, id: string | undefined): Promise<KeySummary> {
  if (id === undefined) throw new UsageError('name the key by its id; "storybar keys list" shows them');
  const key = await store.keys.get(id);
  if (key === undefined) throw new AppError('not_found', `There is no key "${id}".`);
  return key;
}

function changed(id: string, done: boolean): void {
  if (!done) throw new AppError('not_found', `Key ${id} cannot be changed: a revoked key stays revoked.`);
}
