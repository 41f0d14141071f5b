// `storybar users`: works on the store directly, beside a running server.

import { parseArgs } from 'node:util';
import { parseEmail } from '../account/email.ts';
import { readSettings, type Settings } from '../config/settings.ts';
import { AppError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { UserRole } from '../store/users.ts';
import { commandLineActor } from './actor.ts';
import { UsageError } from './exit-codes.ts';
import { withStore } from '../main/open-store.ts';
import { createPasswordLink } from '../main/password-link.ts';
import { type Print, printer, table } from './print.ts';

const HELP = `storybar users list
storybar users invite <e-mail> [--account <id>]   a link to join, with an account of their own or to that one
storybar users reset <e-mail>                     a link to choose a new password
storybar users promote|demote <e-mail>            make an operator, or a member again; they sign in anew

All take --json. Links work once, for a day. They lead to STORYBAR_PUBLIC_URL, or to HOST and PORT.
`;

interface Task {
  readonly store: Store;
  readonly settings: Settings;
  readonly print: Print;
  readonly email: () => string;
  readonly account: string | undefined;
}

const ACTIONS: Readonly<Record<string, (task: Task) => Promise<void>>> = {
  list,
  invite,
  reset,
  promote: async (task) => await setRole(task, 'operator'),
  demote: async (task) => await setRole(task, 'member'),
};

export async function usersCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      account: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [name, address] = positionals;
  if (values.help || name === undefined) {
    process.stdout.write(HELP);
    return;
  }
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    throw new UsageError(`there is no "users ${name}"; the actions are ${Object.keys(ACTIONS).join(', ')}`);
  }
  const settings = readSettings();
  const print = printer(values.json);
  const email = (): string => addressOf(name, address);
  await withStore(settings, async (store) => await action({ store, settings, print, email, account: values.account }));
}

function addressOf(action: string, text: string | undefined): string {
  const email = text === undefined ? undefined : parseEmail(text);
  if (email === undefined) throw new UsageError(`name the person by e-mail address: storybar users ${action} <e-mail>`);
  return email;
}

async function list({ store, print }: Task): Promise<void> {
  const users = await store.users.list();
  const rows = users.map(({ email, role, accountId, createdAt }) => [email, role, accountId, createdAt.slice(0, 10)]);
  print(users, table(['e-mail', 'role', 'account', 'since'], rows, 'No users yet.'));
}

async function invite({ store, settings, print, email, account }: Task): Promise<void> {
  const address = email();
  if ((await store.users.findByEmail(address)) !== undefined) {
    throw new AppError('invalid_fields', `${address} has a user already; see "storybar users reset".`);
  }
  if (account !== undefined && (await store.accounts.find(account)) === undefined) {
    throw new AppError('not_found', `There is no account "${account}".`);
  }
  const link = { email: address, role: 'member', accountId: account ?? null } as const;
  const url = await createPasswordLink(store, link, baseUrl(settings), commandLineActor());
  print({ email: address, url }, `${url}\n\nFor ${address}; works once, for a day.\n`);
}

async function reset({ store, settings, print, email }: Task): Promise<void> {
  const address = email();
  const user = await store.users.findByEmail(address);
  if (user === undefined) throw new AppError('not_found', `There is no user "${address}".`);
  const link = { email: address, role: user.role, accountId: user.accountId };
  const url = await createPasswordLink(store, link, baseUrl(settings), commandLineActor());
  print({ email: address, url }, `${url}\n\nFor ${address}; works once, for a day.\n`);
}

async function setRole({ store, print, email }: Task, role: UserRole): Promise<void> {
  const address = email();
  if (!(await store.users.setRole(address, role, commandLineActor()))) {
    throw new AppError('not_found', `There is no user "${address}". Somebody who signed up can be promoted.`);
  }
  print({ email: address, role }, `${address} is ${role === 'operator' ? 'an operator' : 'a member'}.\n`);
}

function baseUrl({ publicUrl, host, port }: Settings): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return publicUrl || `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
