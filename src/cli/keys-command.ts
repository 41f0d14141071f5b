// `storybar keys` works directly on the store, also while a server is running.

import type { KeyState } from '../service/account/access.ts';
import { parseOrigin } from '../service/account/web-origin.ts';
import { readSettings, type Settings } from '../service/config/settings.ts';
import { AppError } from '../shared/errors.ts';
import type { KeySummary } from '../service/store/accounts/keys.ts';
import type { Store } from '../service/store/store.ts';
import { commandLineActor } from './actor.ts';
import { UsageError } from './exit-codes.ts';
import { flag, text, wholeNumber } from './options.ts';
import { issueKey, openAccount } from '../main/issue-key.ts';
import { loadPlans } from '../main/load-plans.ts';
import { withStore } from '../main/open-store.ts';
import { type Print, table } from './print.ts';
import { action, type Command, runActions } from './run-actions.ts';

const DEFAULT_OVERLAP_HOURS = 24;

interface Task {
  readonly store: Store;
  readonly settings: Settings;
  readonly print: Print;
}

const COMMAND: Command<Task> = {
  name: 'keys',
  actions: [
    action({
      name: 'create',
      options: { plan: text('<plan>'), account: text('<id>'), name: text('<name>'), test: flag },
      help:
        'Create a key for a new account on --plan, or for the existing --account. The key is shown only once.\n' +
        'With --test, create a test key: its renders are free and watermarked.',
      run: create,
    }),
    action({
      name: 'list',
      options: { account: text('<id>') },
      help: 'List all keys, or those of an account.',
      run: list,
    }),
    setStateAction('suspend', 'suspended', 'Suspend a key immediately.'),
    setStateAction('resume', 'active', 'Resume a suspended key immediately.'),
    setStateAction('revoke', 'revoked', 'Revoke a key immediately and for good.'),
    action({
      name: 'rotate',
      args: ['id'],
      options: { overlap: wholeNumber('<hours>', 0) },
      help: `Replace a key with a new one. The old key works for another ${DEFAULT_OVERLAP_HOURS} hours, or for --overlap hours.`,
      run: rotate,
    }),
    action({ name: 'rename', args: ['id', 'name'], help: 'Rename a key.', run: rename }),
    action({
      name: 'origins',
      args: ['id'],
      rest: 'origin',
      help: 'Set the web origins that may use a key, such as https://example.com. Without one, no web page may use it.',
      run: setOrigins,
    }),
  ],
  notes: ['"storybar plans" lists the plans. Every change is recorded; see "storybar audit".'],
  withTask: async (print, use) => {
    const settings = readSettings();
    await withStore(settings, async (store) => await use({ store, settings, print }));
  },
};

export async function keysCommand(args: string[]): Promise<void> {
  await runActions(COMMAND, args);
}

function setStateAction(name: string, state: KeyState, help: string) {
  return action({ name, args: ['id'], help, run: async (task: Task, { id }) => await setState(task, id, state) });
}

interface CreateInput {
  readonly plan: string | undefined;
  readonly account: string | undefined;
  readonly name: string | undefined;
  readonly test: boolean;
}

async function create({ store, settings, print }: Task, input: CreateInput): Promise<void> {
  const { name = 'unnamed', test } = input;
  const { accountId, plan, isPending } = await accountFor(store, settings, { ...input, name });
  const issued = await issueKey(store, accountId, { name, mode: test ? 'test' : 'live' }, commandLineActor());
  const message = `${issued.key}\n\nCreated key ${issued.id} on plan ${plan}. The key is shown only once.\n`;
  const note = `It works after the account is approved, with: storybar accounts approve ${accountId}\n`;
  print({ ...issued, plan, account: accountId }, isPending && !test ? message + note : message);
}

/** Returns the existing account, or a new one on the plan. */
async function accountFor(
  store: Store,
  settings: Settings,
  { plan, account, name }: Pick<CreateInput, 'plan' | 'account'> & { readonly name: string },
): Promise<{ accountId: string; plan: string; isPending: boolean }> {
  if (account !== undefined) {
    if (plan !== undefined) throw new UsageError('give either --account or --plan; an existing account keeps its plan');
    const found = await store.accounts.find(account);
    if (found === undefined) throw new AppError('not_found', `Account "${account}" not found.`);
    return { accountId: account, plan: found.subscription?.plan ?? 'none', isPending: found.awaitsApproval };
  }
  const plans = loadPlans(settings);
  const names = plans.names.join(', ');
  if (plan === undefined) throw new UsageError(`give --plan for a new account (${names}), or --account`);
  if (plans.find(plan) === undefined) throw new UsageError(`unknown plan "${plan}"; the plans are ${names}`);
  return { accountId: await openAccount(store, plan, name, commandLineActor()), plan, isPending: false };
}

async function list({ store, print }: Task, { account }: { account: string | undefined }): Promise<void> {
  const keys = await store.keys.list(account);
  const headers = ['id', 'key', 'name', 'plan', 'mode', 'state', 'account', 'last used'];
  const rows = keys.map((key) => [
    key.id,
    `${key.prefix}...${key.lastFour}`,
    key.name,
    key.plan,
    key.mode,
    describeState(key),
    key.accountId,
    key.lastUsedAt ?? 'never',
  ]);
  print(keys, table(headers, rows, 'No keys yet.'));
}

function describeState({ state, accountState, expiresAt }: KeySummary): string {
  if (state !== 'active') return state;
  if (accountState !== 'active') return `account ${accountState}`;
  return expiresAt === null ? state : `until ${expiresAt.slice(0, 16)}`;
}

async function setState({ store, print }: Task, id: string, state: KeyState): Promise<void> {
  const key = await find(store, id);
  assertChanged(key.id, await store.keys.setState(key.id, state, commandLineActor()));
  print({ id: key.id, state }, `Key ${key.id} is ${state}.\n`);
}

/** Creates the new key first, so that the account has two keys and not none if the second step fails. */
async function rotate(
  { store, print }: Task,
  { id, overlap = DEFAULT_OVERLAP_HOURS }: { id: string; overlap: number | undefined },
): Promise<void> {
  const { id: oldId, accountId, name, mode, allowedOrigins, state } = await find(store, id);
  assertChanged(oldId, state !== 'revoked');
  const actor = commandLineActor();
  const issued = await issueKey(store, accountId, { name, mode, allowedOrigins }, actor);
  const until = new Date(Date.now() + overlap * 3_600_000);
  assertChanged(oldId, await store.keys.expireAt(oldId, until, actor));
  const end = overlap === 0 ? 'has stopped working' : `works until ${until.toISOString()}`;
  const message = `${issued.key}\n\nCreated key ${issued.id}. The key is shown only once. Key ${oldId} ${end}.\n`;
  print({ ...issued, account: accountId, replaces: oldId, oldKeyWorksUntil: until.toISOString() }, message);
}

async function rename({ store, print }: Task, { id, name }: { id: string; name: string }): Promise<void> {
  const key = await find(store, id);
  if (name.trim() === '') throw new UsageError('the new name must not be blank');
  assertChanged(key.id, await store.keys.rename(key.id, name, commandLineActor()));
  print({ id: key.id, name }, `Key ${key.id} is now named ${name}.\n`);
}

async function setOrigins(
  { store, print }: Task,
  { id, rest: origins }: { id: string; rest: readonly string[] },
): Promise<void> {
  const key = await find(store, id);
  const invalid = origins.filter((origin) => parseOrigin(origin) !== origin);
  if (invalid.length > 0) {
    throw new UsageError(`an origin must look like https://example.com, without a path; got ${invalid.join(', ')}`);
  }
  assertChanged(key.id, await store.keys.setAllowedOrigins(key.id, origins, commandLineActor()));
  const allowed = origins.length === 0 ? 'No web page' : `Web pages of ${origins.join(', ')}`;
  print({ id: key.id, allowedOrigins: origins }, `${allowed} may use key ${key.id}.\n`);
}

async function find(store: Store, id: string): Promise<KeySummary> {
  const key = await store.keys.get(id);
  if (key === undefined) throw new AppError('not_found', `Key "${id}" not found.`);
  return key;
}

function assertChanged(id: string, changed: boolean): void {
  if (!changed) throw new AppError('not_found', `Key ${id} is revoked, and a revoked key cannot be changed.`);
}
