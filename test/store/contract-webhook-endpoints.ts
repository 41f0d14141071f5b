import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import type { Store } from '../../src/service/store/store.ts';
import type { AttemptResult, WebhookAttempt } from '../../src/service/store/webhooks/webhook.ts';
import { ACTOR, webhookSetup } from './webhook-setup.ts';
import { DAY, HOUR, type World } from './world.ts';

const MINUTE = 60_000;

export function webhookEndpointsContract(world: () => World): void {
  const { endpoint, pending, claimOne, attempt, OK } = webhookSetup(world);

  it('keeps the endpoints of an account apart from those of others', async () => {
    const { webhookEndpoints } = world().store;
    const [mine, other] = [await world().account(), await world().account()];
    const first = await endpoint(mine, ['render.failed']);
    world().pass(1);
    const second = await endpoint(mine);
    expect(await webhookEndpoints.list(mine)).toMatchObject([
      { id: first, events: ['render.failed'], isEnabled: true, disabledReason: undefined, failingSince: undefined },
      { id: second, events: [] },
    ]);
    expect(await webhookEndpoints.list(other)).toEqual([]);
    expect(await webhookEndpoints.find(other, first)).toBeUndefined();
    expect(await webhookEndpoints.secrets(other, first)).toEqual([]);
    expect(await webhookEndpoints.rotate(other, first, 0, ACTOR)).toBeUndefined();
    expect(await webhookEndpoints.setEnabled(other, first, false, ACTOR)).toBe(false);
    expect(await webhookEndpoints.remove(other, first, ACTOR)).toBe(false);
    expect(await webhookEndpoints.remove(mine, first, ACTOR)).toBe(true);
    expect(await webhookEndpoints.list(mine)).toMatchObject([{ id: second }]);
    expect((await world().actions(mine)).slice(-3)).toEqual([
      `${ACTOR} webhook.created`,
      `${ACTOR} webhook.created`,
      `${ACTOR} webhook.deleted`,
    ]);
  });

  it('changes the URL and the events of an endpoint, and sends what waits to the new URL', async () => {
    const { webhookEndpoints, webhookDeliveries, operator } = world().store;
    const [mine, other] = [await world().account(), await world().account()];
    const [id, bystander] = [await endpoint(mine), await endpoint(mine)];
    const waiting = await pending(mine, id);
    await webhookDeliveries.endAttempt(await claimOne(), attempt(), { kind: 'retry', delayMs: MINUTE });
    const elsewhere = await pending(mine, bystander);
    expect(await operator.failingWebhooks()).toEqual({ endpoints: 1, accountId: mine });
    const change = { url: 'https://new.example/', events: ['render.failed'] as const };
    expect(await webhookEndpoints.update(other, id, change, ACTOR)).toBe(false);
    expect(await webhookEndpoints.update(mine, id, change, ACTOR)).toBe(true);
    expect(await webhookEndpoints.find(mine, id)).toMatchObject({
      url: 'https://new.example/',
      events: ['render.failed'],
      failingSince: undefined,
    });
    expect((await webhookDeliveries.find(mine, waiting))?.url).toBe('https://new.example/');
    expect((await webhookDeliveries.find(mine, elsewhere))?.url).toContain(bystander);
    expect(await operator.failingWebhooks()).toEqual({ endpoints: 0, accountId: undefined });
    expect((await world().actions(mine)).at(-1)).toBe(`${ACTOR} webhook.changed`);
  });

  it('keeps what a change of an endpoint leaves out, and that it is failing until it has another URL', async () => {
    const { webhookEndpoints, webhookDeliveries } = world().store;
    const accountId = await world().account();
    const id = await endpoint(accountId, ['render.failed']);
    await pending(accountId, id);
    await webhookDeliveries.endAttempt(await claimOne(), attempt(), { kind: 'retry', delayMs: MINUTE });
    const found = async () => await webhookEndpoints.find(accountId, id);
    const before = await found();
    expect(before?.failingSince).toBeDefined();
    await webhookEndpoints.update(accountId, id, { events: ['batch.completed'] }, ACTOR);
    expect(await found()).toEqual({ ...before, events: ['batch.completed'] });
    await webhookEndpoints.update(accountId, id, { url: 'https://new.example/' }, ACTOR);
    const changed = { url: 'https://new.example/', events: ['batch.completed'], failingSince: undefined };
    expect(await found()).toEqual({ ...before, ...changed });
  });

  it('never has more endpoints than allowed, also when two servers add them at the same time', async () => {
    const accountId = await world().account();
    const others = await world().server('there/2/b');
    const create = async (store: Store): Promise<string | undefined> => {
      const id = randomUUID();
      return await store.webhookEndpoints.create({ id, accountId, url: 'https://a.example/', events: [] }, 3, ACTOR);
    };
    const created = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(async (n) => await create(n % 2 ? others : world().store)),
    );
    expect(created.filter((secret) => secret !== undefined)).toHaveLength(3);
    expect(await world().store.webhookEndpoints.list(accountId)).toHaveLength(3);
  });

  it('signs with both secrets until the overlap of a rotation is over', async () => {
    const { webhookEndpoints } = world().store;
    const accountId = await world().account();
    const id = await endpoint(accountId);
    const [before] = await webhookEndpoints.secrets(accountId, id);
    const second = await webhookEndpoints.rotate(accountId, id, HOUR, ACTOR);
    world().pass(1);
    const third = await webhookEndpoints.rotate(accountId, id, 2 * HOUR, ACTOR);
    const secrets = async (): Promise<string[]> =>
      (await webhookEndpoints.secrets(accountId, id)).map(({ secret }) => secret);
    expect(await secrets()).toEqual([third, second, before?.secret]);
    await pending(accountId, id);
    expect((await claimOne()).secrets).toEqual([third, second, before?.secret]);
    world().pass(HOUR);
    expect(await secrets()).toEqual([third, second]);
    world().pass(2 * HOUR);
    expect(await secrets()).toEqual([third]);
    const fourth = await webhookEndpoints.rotate(accountId, id, 0, ACTOR);
    expect(await secrets()).toEqual([fourth]);
    expect(new Set([before?.secret, second, third, fourth]).size).toBe(4);
  });

  it('gives an account one secret for URLs in requests, whoever asks first, and rotates it', async () => {
    const accountId = await world().account();
    const other = await world().server('there/2/b');
    const both = await Promise.all(
      [world().store, other, world().store, other].map(
        async ({ webhookEndpoints }) => await webhookEndpoints.accountSecrets(accountId),
      ),
    );
    expect(new Set(both.flat().map(({ secret }) => secret)).size).toBe(1);
    const next = await other.webhookEndpoints.rotateAccountSecret(accountId, HOUR, ACTOR);
    const secrets = await world().store.webhookEndpoints.accountSecrets(accountId);
    expect(secrets.map(({ secret }) => secret)).toEqual([next, both[0]?.[0]?.secret]);
    expect(next).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/u);
  });

  it('ends pending deliveries when an endpoint is disabled or deleted, also one that is being sent', async () => {
    const { webhookEndpoints, webhookDeliveries } = world().store;
    const accountId = await world().account();
    for (const end of ['disable', 'delete'] as const) {
      const id = await endpoint(accountId);
      const [waiting, sending] = [await pending(accountId, id), await claimOne()];
      if (end === 'disable') await webhookEndpoints.setEnabled(accountId, id, false, ACTOR);
      else await webhookEndpoints.remove(accountId, id, ACTOR);
      expect(await webhookDeliveries.claim(10)).toEqual([]);
      const failed = { status: 'failed', lastError: `The endpoint was ${end}d.` };
      expect(await webhookDeliveries.find(accountId, waiting)).toMatchObject(failed);
      const late = await webhookDeliveries.endAttempt(sending, attempt(OK), { kind: 'succeeded' });
      expect(late).toEqual({ isWritten: false, disabled: undefined });
      expect(await webhookDeliveries.sendAgain(accountId, waiting)).toBe(false);
      if (end === 'delete') continue;
      await webhookEndpoints.setEnabled(accountId, id, true, ACTOR);
      expect(await webhookEndpoints.find(accountId, id)).toMatchObject({ isEnabled: true, disabledReason: undefined });
      expect(await webhookDeliveries.sendAgain(accountId, waiting)).toBe(true);
      await webhookDeliveries.endAttempt(await claimOne(), attempt(OK), { kind: 'succeeded' });
    }
  });

  it('disables an endpoint that is gone, and has its owner told once', async () => {
    const { webhookEndpoints, webhookDeliveries } = world().store;
    const other = await world().server('there/2/b');
    const accountId = await world().account();
    const id = await endpoint(accountId);
    await pending(accountId, id);
    await pending(accountId, id);
    const end = await webhookDeliveries.endAttempt(await claimOne(), attempt({ status: 410 }), { kind: 'gone' });
    expect(end).toEqual({ isWritten: true, disabled: 'gone' });
    expect(await webhookDeliveries.claim(10)).toEqual([]);
    expect(await webhookEndpoints.find(accountId, id)).toMatchObject({ isEnabled: false, disabledReason: 'gone' });
    expect((await world().actions(accountId)).at(-1)).toBe('system webhook.disabled');
    expect(await webhookEndpoints.claimNotice()).toMatchObject({ id, disabledReason: 'gone' });
    expect(await other.webhookEndpoints.claimNotice()).toBeUndefined();
    // The server that was to notify the owner crashed.
    world().pass(11 * MINUTE);
    const told = must(await other.webhookEndpoints.claimNotice(), 'the notice');
    expect(told).toMatchObject({ id });
    await other.webhookEndpoints.endNotice(told);
    world().pass(DAY);
    expect(await webhookEndpoints.claimNotice()).toBeUndefined();
  });

  it('has its owner told again when an endpoint is disabled again while the first notice is sent', async () => {
    const { webhookEndpoints, webhookDeliveries } = world().store;
    const accountId = await world().account();
    const id = await endpoint(accountId);
    const disable = async (): Promise<void> => {
      await pending(accountId, id);
      await webhookDeliveries.endAttempt(await claimOne(), attempt({ status: 410 }), { kind: 'gone' });
    };
    await disable();
    const told = must(await webhookEndpoints.claimNotice(), 'the first notice');
    world().pass(MINUTE);
    await webhookEndpoints.setEnabled(accountId, id, true, ACTOR);
    await disable();
    await webhookEndpoints.endNotice(told);
    expect(await webhookEndpoints.claimNotice()).toMatchObject({ id, isEnabled: false });
  });

  it('disables an endpoint when a delivery is given up after five days without a success, but not earlier', async () => {
    const { webhookEndpoints, webhookDeliveries } = world().store;
    const accountId = await world().account();
    const id = await endpoint(accountId);
    const end = async (result: AttemptResult, changes: Partial<WebhookAttempt> = {}) => {
      await pending(accountId, id);
      return (await webhookDeliveries.endAttempt(await claimOne(), attempt(changes), result)).disabled;
    };
    expect(await end({ kind: 'given up' })).toBeUndefined();
    const failingSince = world().clock().toISOString();
    world().pass(3 * DAY);
    expect(await end({ kind: 'given up' })).toBeUndefined();
    expect(await webhookEndpoints.find(accountId, id)).toMatchObject({ isEnabled: true, failingSince });
    expect(await end({ kind: 'succeeded' }, OK)).toBeUndefined();
    expect((await webhookEndpoints.find(accountId, id))?.failingSince).toBeUndefined();
    world().pass(3 * DAY);
    expect(await end({ kind: 'given up' })).toBeUndefined();
    world().pass(5 * DAY);
    // A first failure after a long silence gets its retries.
    expect(await end({ kind: 'retry', delayMs: DAY })).toBeUndefined();
    expect(await end({ kind: 'given up' })).toBe('failing');
    expect(await webhookEndpoints.find(accountId, id)).toMatchObject({ isEnabled: false, disabledReason: 'failing' });
    await webhookEndpoints.setEnabled(accountId, id, true, ACTOR);
    expect(await webhookEndpoints.claimNotice()).toBeUndefined();
    expect(await end({ kind: 'given up' })).toBeUndefined();
  });
}
