import { afterEach, beforeEach, expect, it } from 'vitest';
import { sqliteDatabase } from '../../../test/store/databases.ts';
import { World } from '../../../test/store/world.ts';
import type { AccountRole } from '../account/roles.ts';
import type { Email } from '../mail/mailer.ts';
import { createLogger } from '../telemetry/logger.ts';
import { type NoticeOptions, sendDisabledNotices } from './disabled-notices.ts';

let world: World;
let sent: Email[];
beforeEach(async () => {
  world = await World.begin(sqliteDatabase());
  sent = [];
});
afterEach(async () => await world.database.remove());

/** Returns an endpoint that has responded with 410. */
async function disabledEndpoint(): Promise<string> {
  const { users, webhookEndpoints, webhookDeliveries } = world.store;
  const user = await users.signUp('ann@example.com', 'hash');
  const accountId = user?.accountId ?? '';
  const url = 'https://hooks.example/secret-path?token=secret';
  await webhookEndpoints.create({ id: 'hook', accountId, url, events: [] }, 1, 'cli:x');
  await webhookDeliveries.send(accountId, 'hook', { id: 'msg_1', type: 'webhook.test', body: '{}' });
  const outcome = { status: 410, contentType: undefined, response: '', error: 'gone' };
  const attempt = { at: world.clock().toISOString(), durationMs: 1, requestHeaders: {}, ...outcome };
  for (const claimed of await webhookDeliveries.claim(1)) {
    await webhookDeliveries.endAttempt(claimed, attempt, { kind: 'gone' });
  }
  return accountId;
}

async function join(accountId: string, email: string, accountRole: AccountRole): Promise<void> {
  const expiresAt = new Date(world.clock().getTime() + 3_600_000);
  await world.store.members.invite(email, { accountId, email, accountRole, expiresAt }, 'cli:x');
  await world.store.members.accept(email, 'hash');
}

const optionsWith = (mailer: NoticeOptions['mailer']): NoticeOptions => ({
  publicUrl: 'https://storybar.example',
  store: world.store,
  mailer,
  logger: createLogger('silent', 'test'),
});
const working = optionsWith.bind(undefined, { send: async (email) => void sent.push(email) });

it('a notice tells the users of the account once, without the secret parts of the URL', async () => {
  await disabledEndpoint();
  await sendDisabledNotices(working());
  await sendDisabledNotices(working());
  expect(sent.map(({ to }) => to)).toEqual(['ann@example.com']);
  expect(sent[0]?.text).toContain('https://hooks.example. It responded with the status 410');
  expect(sent[0]?.text).toContain('https://storybar.example/dashboard/webhooks/hook');
  expect(sent[0]?.text).not.toContain('secret');
});

it('tries again after ten minutes when the mail server fails', async () => {
  await disabledEndpoint();
  await sendDisabledNotices(optionsWith({ send: async () => await Promise.reject(new Error('no mail server')) }));
  await sendDisabledNotices(working());
  expect(sent).toEqual([]);
  world.pass(10 * 60_000);
  await sendDisabledNotices(working());
  expect(sent).toHaveLength(1);
});

it('a notice tells no one without a mail server, also when one is configured later', async () => {
  await disabledEndpoint();
  await sendDisabledNotices(optionsWith(undefined));
  world.pass(3_600_000);
  await sendDisabledNotices(working());
  expect(sent).toEqual([]);
});

it('a notice tells every user who may develop once, although the mail server refuses one of them', async () => {
  const accountId = await disabledEndpoint();
  world.pass(1);
  await join(accountId, 'bob@example.com', 'member');
  await join(accountId, 'pay@example.com', 'billing');
  const refusing = optionsWith({
    send: async (email) => {
      if (email.to === 'ann@example.com') throw new Error('550 no such user');
      sent.push(email);
    },
  });
  await sendDisabledNotices(refusing);
  world.pass(10 * 60_000);
  await sendDisabledNotices(refusing);
  expect(sent.map(({ to }) => to)).toEqual(['bob@example.com']);
});

it('the mailer gives up after a day, with the same message id in every attempt', async () => {
  await disabledEndpoint();
  const attempts: Email[] = [];
  const failing = optionsWith({
    send: async (email) => {
      attempts.push(email);
      return await Promise.reject(new Error('no mail server'));
    },
  });
  for (let hour = 0; hour < 48; hour += 1) {
    await sendDisabledNotices(failing);
    world.pass(3_600_000);
  }
  expect(attempts).toHaveLength(25);
  const ids = new Set(attempts.map(({ id }) => id));
  expect([...ids]).toEqual([expect.stringMatching(/^webhook-disabled-hook-[\w-]+-\d+$/u)]);
});
