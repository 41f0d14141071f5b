import { afterEach, beforeEach, expect, it } from 'vitest';
import { sqliteDatabase } from '../../../test/store/databases.ts';
import { World } from '../../../test/store/world.ts';
import { AppError } from '../../shared/errors.ts';
import { FetchPolicy } from '../fetch/fetch-policy.ts';
import { LocalLimits } from '../limits/local-limits.ts';
import { WebhookChanges } from './webhook-changes.ts';

const ACTOR = 'cli:test';
let world: World;
let changes: WebhookChanges;
beforeEach(async () => {
  world = await World.begin(sqliteDatabase());
  const policy = new FetchPolicy('public', []);
  changes = new WebhookChanges({ store: world.store, policy, limits: new LocalLimits() });
});
afterEach(async () => await world.database.remove());

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  await work.then(
    () => 'done',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );

async function endpoint(accountId: string): Promise<string> {
  const created = await changes.create(accountId, changes.check('https://a.example/hook', undefined), ACTOR);
  return created.endpoint.id;
}

it('the service reports everything that is wrong with an endpoint together', () => {
  const check = (url: unknown, events: unknown) => () => changes.check(url, events);
  expect(check(undefined, 'all')).toThrow('The request has 2 errors.');
  expect(check('https://a.example', ['render.deleted'])).toThrow("This event doesn't exist.");
  expect(check({}, [])).toThrow('url must be a string; got an object.');
  expect(check('http://[::1]/', [])).toThrow('STORYBAR_FETCH_ALLOW');
  expect(changes.check(' https://a.example ', ['render.failed', 'render.failed'])).toEqual({
    url: 'https://a.example/',
    events: ['render.failed'],
  });
});

it('the service limits webhooks that an account sends by hand, apart from those of other accounts', async () => {
  const [busy, other] = [await world.account(), await world.account()];
  const [first, second] = [await endpoint(busy), await endpoint(other)];
  const { id } = await changes.sendTest(busy, first);
  for (let sent = 1; sent < 30; sent += 1) await changes.sendTest(busy, first);
  expect(await codeOf(changes.sendTest(busy, first))).toBe('rate_limited');
  expect(await codeOf(changes.sendAgain(busy, id))).toBe('rate_limited');
  expect(await codeOf(changes.sendTest(other, second))).toBe('done');
});

it('the service sends nothing by hand for a suspended account', async () => {
  const accountId = await world.account();
  const id = await endpoint(accountId);
  const delivery = await changes.sendTest(accountId, id);
  await world.store.accounts.setSuspended(accountId, true, ACTOR);
  expect(await codeOf(changes.sendTest(accountId, id))).toBe('key_suspended');
  expect(await codeOf(changes.sendAgain(accountId, delivery.id))).toBe('key_suspended');
});
