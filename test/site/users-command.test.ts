// Users managed on the command line next to a running server, which is the only way to add them without email.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer, until } from '../running-server.ts';
import { PASSWORD, Visitor } from './visitor.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({
    STORYBAR_WORKERS: '1',
    STORYBAR_SIGN_UP: 'closed',
    STORYBAR_OPERATOR_EMAIL: 'Boss@example.com',
  });
});
afterAll(async () => {
  await server.stop();
});

const visitor = (): Visitor => new Visitor(server.url);
const pathIn = (text: string): string => /\/password\?link=[\w-]{43}/u.exec(text)?.[0] ?? '';
const redeem = async (path: string, password = PASSWORD, user = visitor()) =>
  await user.submit(path, { link: path.slice(path.indexOf('=') + 1), password }, '/password');

describe('the first operator', () => {
  it('the first operator gets a link at startup, and is an operator after opening it', async () => {
    const link = await until(() => pathIn(server.output().stdout));
    expect(server.output().stdout).toContain(
      'To set the password of the operator boss@example.com, open this link within 24 hours:',
    );
    const boss = visitor();
    expect(await redeem(link, PASSWORD, boss)).toMatchObject({ status: 303 });
    expect(await boss.get('/operator')).toMatchObject({ status: 200 });
  });
});

describe('users', () => {
  it('users cannot sign up when sign-up is closed, but can be invited', async () => {
    expect((await visitor().get('/signup')).text).toContain('Sign-up is closed. Ask the operator for an invitation.');
    const token = await visitor().tokenOf('/signin');
    expect(await visitor().send('/signup', { token, email: 'a@example.com' })).toMatchObject({ status: 403 });
    expect((await visitor().get('/signin')).text).not.toContain('/signup');
    const printed = await server.cli('users', 'invite', 'ann@example.com');
    expect(printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/password\?link=/u);
    expect(await redeem(pathIn(printed))).toMatchObject({ status: 303 });
    expect(await visitor().signIn('ann@example.com')).toMatchObject({ status: 303, location: '/dashboard' });
  });

  it('users can be invited to an existing account', async () => {
    const { id } = JSON.parse(await server.cli('accounts', 'create', '--plan', 'pro', '--json')) as { id: string };
    const printed = await server.cli('users', 'invite', 'bob@example.com', '--account', id, '--json');
    const bob = visitor();
    await redeem(pathIn(printed), PASSWORD, bob);
    expect((await bob.get('/dashboard')).text).toContain('of 10,000 credits used (Pro)');
    const users = JSON.parse(await server.cli('users', 'list', '--json')) as { email: string; accountId: string }[];
    expect(users.find(({ email }) => email === 'bob@example.com')).toMatchObject({ accountId: id, role: 'member' });
  });

  it('users who forgot their password can use a reset link, and the page says where to get it', async () => {
    expect((await visitor().get('/reset')).text).toContain('Contact support for a reset link.');
    await redeem(pathIn(await server.cli('users', 'invite', 'carl@example.com')));
    const printed = await server.cli('users', 'reset', 'carl@example.com');
    expect(await redeem(pathIn(printed), 'an entirely new password')).toMatchObject({ status: 303 });
    expect(await visitor().signIn('carl@example.com')).toMatchObject({ status: 422 });
    expect(await visitor().signIn('carl@example.com', 'an entirely new password')).toMatchObject({ status: 303 });
  });

  it('users can be promoted to operator and demoted to member', async () => {
    await redeem(pathIn(await server.cli('users', 'invite', 'dora@example.com')));
    expect(await server.cli('users', 'promote', 'DORA@example.com')).toBe('dora@example.com is an operator.\n');
    const dora = visitor();
    await dora.signIn('dora@example.com');
    expect(await dora.get('/operator')).toMatchObject({ status: 200 });
    await server.cli('users', 'demote', 'dora@example.com');
    expect(await dora.get('/operator')).toMatchObject({ status: 303 });
    expect(await server.cli('users', 'list')).toMatch(/dora@example\.com\s+member/u);
  });

  it.each([
    [['users', 'reset'], 'missing <email>; usage: storybar users reset <email>'],
    [['users', 'promote', 'unknown@example.com'], 'User "unknown@example.com" not found'],
    [['users', 'reset', 'unknown@example.com'], 'User "unknown@example.com" not found'],
    [['users', 'invite', 'boss@example.com'], 'is already a user'],
    [['users', 'invite', 'new@example.com', '--account', 'none'], 'Account "none" not found'],
    [['users', 'frobnicate'], 'unknown action "users frobnicate"'],
  ])('users get an error message for the wrong arguments %j', async (args, message) => {
    await expect(server.cli(...args)).rejects.toThrow(message);
  });
});

it('the server refuses to start when only some of the email settings are set', async () => {
  await expect(startServer({ STORYBAR_SMTP_URL: 'smtp://127.0.0.1:1' })).rejects.toThrow(
    /STORYBAR_MAIL_FROM is required.*\n.*STORYBAR_PUBLIC_URL is required/u,
  );
});
