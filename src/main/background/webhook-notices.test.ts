import { afterEach, beforeEach, expect, it } from 'vitest';
import { sqliteDatabase } from '../../../test/store/databases.ts';
import { World } from '../../../test/store/world.ts';
import type { Email } from '../../mail/mailer.ts';
import { createLogger } from '../../telemetry/logger.ts';
import { type NoticeOptions, tellOwners } from './webhook-notices.ts';

let world: World;
let sent: Email[];
beforeEach(async () => {
  world = await World.begin(sqliteDatabase());
  sent = [];
});
afterEach(async () => await world.database.remove());

/** An endpoint that has responded with 410. */
async function disabledEndpoint(): Promise<void> {
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
}

const optionsWith = (mailer: NoticeOptions['mailer']): NoticeOptions => ({
  settings: { publicUrl: 'https://storybar.example' },
  store: world.store,
  mailer,
  logger: createLogger('silent', 'test'),
});
const working = optionsWith.bind(undefined, { send: async (email) => void sent.push(email) });

it('tells the users of the account once, without the secret parts of the URL', async () => {
  await disabledEndpoint();
  await tellOwners(working());
  await tellOwners(working());
  expect(sent.map(({ to }) => to)).toEqual(['ann@example.com']);
  expect(sent[0]?.text).toContain('https://hooks.example. It responded with the status 410');
  expect(sent[0]?.text).toContain('https://storybar.example/dashboard/webhooks/hook');
  expect(sent[0]?.text).not.toContain('secret');
});

it('tries again after ten minutes when the mail server fails', async () => {
  await disabledEndpoint();
  await tellOwners(optionsWith({ send: async () => await Promise.reject(new Error('no mail server')) }));
  await tellOwners(working());
  expect(sent).toEqual([]);
  world.pass(10 * 60_000);
  await tellOwners(working());
  expect(sent).toHaveLength(1);
});

it('tells no one without a mail server, also when one is configured later', async () => {
  await disabledEndpoint();
  await tellOwners(optionsWith(undefined));
  world.pass(3_600_000);
  await tellOwners(working());
  expect(sent).toEqual([]);
});
