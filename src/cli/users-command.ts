// `storybar users` works directly on the store, also while a server is running.

import { parseEmail } from '../service/account/email.ts';
import { readSettings, type Settings } from '../service/config/settings.ts';
import { AppError } from '../shared/errors.ts';
import type { Store } from '../service/store/store.ts';
import type { UserRole } from '../service/store/people/user.ts';
import { commandLineActor } from './actor.ts';
import { UsageError } from './exit-codes.ts';
import { flag, text } from './options.ts';
import { withStore } from '../main/open-store.ts';
import { createPasswordLink } from '../main/password-link.ts';
import { type Print, table } from './print.ts';
import { action, type Command, runActions } from './run-actions.ts';

interface Task {
  readonly store: Store;
  readonly settings: Settings;
  readonly print: Print;
}

const COMMAND: Command<Task> = {
  name: 'users',
  actions: [
    action({ name: 'list', help: 'List the users who can sign in to the site.', run: list }),
    action({
      name: 'invite',
      args: ['email'],
      options: { account: text('<id>'), operator: flag },
      help:
        'Print a sign-up link for a new user, who gets an account of their own or joins --account.\n' +
        'With --operator, the user becomes an operator.',
      run: invite,
    }),
    action({ name: 'reset', args: ['email'], help: 'Print a link to choose a new password.', run: reset }),
    action({
      name: 'two-factor-off',
      args: ['email'],
      help: 'Turn off the authenticator app of a user who has lost it and all recovery codes.',
      run: twoFactorOff,
    }),
    action({
      name: 'promote',
      args: ['email'],
      help: 'Make a user an operator. They have to sign in again.',
      run: async (task, { email }) => await setRole(task, email, 'operator'),
    }),
    action({
      name: 'demote',
      args: ['email'],
      help: 'Make an operator a member again. They have to sign in again.',
      run: async (task, { email }) => await setRole(task, email, 'member'),
    }),
  ],
  notes: [
    'A link works once and expires after a day.',
    'Links start with STORYBAR_PUBLIC_URL, or with HOST and PORT if it is not set.',
  ],
  withTask: async (print, use) => {
    const settings = readSettings();
    await withStore(settings, async (store) => await use({ store, settings, print }));
  },
};

export async function usersCommand(args: string[]): Promise<void> {
  await runActions(COMMAND, args);
}

async function list({ store, print }: Task): Promise<void> {
  const users = await store.users.list();
  const rows = users.map(({ email, role, accountId, createdAt }) => [email, role, accountId, createdAt.slice(0, 10)]);
  print(users, table(['email', 'role', 'account', 'since'], rows, 'No users yet.'));
}

async function invite(
  { store, settings, print }: Task,
  { email, account, operator }: { email: string; account: string | undefined; operator: boolean | undefined },
): Promise<void> {
  const address = addressOf(email);
  if ((await store.users.findByEmail(address)) !== undefined) {
    throw new AppError(
      'invalid_fields',
      `${address} is already a user. Use "storybar users reset" for a new password.`,
    );
  }
  if (account !== undefined && (await store.accounts.find(account)) === undefined) {
    throw new AppError('not_found', `Account "${account}" not found.`);
  }
  const link = { email: address, role: operator ? 'operator' : 'member', accountId: account ?? null } as const;
  const url = await createPasswordLink(store, link, baseUrl(settings), commandLineActor());
  printLink(print, address, url);
}

async function reset({ store, settings, print }: Task, { email }: { email: string }): Promise<void> {
  const address = addressOf(email);
  const user = await store.users.findByEmail(address);
  if (user === undefined) throw new AppError('not_found', `User "${address}" not found.`);
  const link = { email: address, role: user.role, accountId: user.accountId };
  const url = await createPasswordLink(store, link, baseUrl(settings), commandLineActor());
  printLink(print, address, url);
}

async function twoFactorOff({ store, print }: Task, { email }: { email: string }): Promise<void> {
  const address = addressOf(email);
  const user = await store.users.findByEmail(address);
  if (user === undefined) throw new AppError('not_found', `User "${address}" not found.`);
  if (!(await store.secondFactors.remove(user.id, commandLineActor()))) {
    throw new AppError('not_found', `${address} has no authenticator app.`);
  }
  print({ email: address }, `${address} can sign in with the password alone.\n`);
}

async function setRole({ store, print }: Task, email: string, role: UserRole): Promise<void> {
  const address = addressOf(email);
  if (!(await store.users.setRole(address, role, commandLineActor()))) {
    throw new AppError('not_found', `User "${address}" not found. They have to sign up first.`);
  }
  print({ email: address, role }, `${address} is ${role === 'operator' ? 'an operator' : 'a member'}.\n`);
}

function printLink(print: Print, email: string, url: string): void {
  print({ email, url }, `${url}\n\nSend this link to ${email}. It works once and expires after a day.\n`);
}

function addressOf(email: string): string {
  const address = parseEmail(email);
  if (address === undefined) throw new UsageError(`"${email}" isn't a valid email address`);
  return address;
}

function baseUrl({ publicUrl, host, port }: Settings): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return publicUrl || `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
