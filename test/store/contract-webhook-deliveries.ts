import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import type { RenderEvent } from '../../src/service/store/renders/render.ts';
import type { Store } from '../../src/service/store/store.ts';
import type { AttemptResult, DeliveryPage } from '../../src/service/store/webhooks/webhook.ts';
import { OPTIONS, renderSetup } from './render-setup.ts';
import { ACTOR, webhookSetup } from './webhook-setup.ts';
import { DAY, HOUR, type World } from './world.ts';

const MINUTE = 60_000;
const URL_OF_REQUEST = 'https://request.example/hook';
const RETRY: AttemptResult = { kind: 'retry', delayMs: 5 * MINUTE };

export function webhookDeliveriesContract(world: () => World): void {
  const { newRender } = renderSetup(world);
  const { message, attempt, OK, endpoint, pending, claimOne, canceledRender, eventOf } = webhookSetup(world);

  it('publishes an event once, to the endpoints that want it and to the URL of the request', async () => {
    const { webhookDeliveries, webhookEndpoints, renders } = world().store;
    const other = await world().server('there/2/b');
    const [accountId, stranger] = [await world().account(), await world().account()];
    const all = await endpoint(accountId);
    const wanted = await endpoint(accountId, ['render.canceled', 'render.failed']);
    await endpoint(accountId, ['render.succeeded']);
    await endpoint(stranger);
    await webhookEndpoints.setEnabled(accountId, await endpoint(accountId), false, ACTOR);
    const event = await canceledRender(accountId);
    const sent = message('render.canceled');
    const receiver = { webhookUrl: URL_OF_REQUEST, batchId: undefined };
    const added = await Promise.all([
      webhookDeliveries.publish(event, sent, receiver),
      other.webhookDeliveries.publish(event, sent, receiver),
    ]);
    expect(added.filter((count) => count !== undefined)).toEqual([3]);
    expect(await renders.events.pending(10)).toEqual([]);
    const deliveries = await webhookDeliveries.list(accountId, { limit: 10 });
    expect(new Set(deliveries.map(({ endpointId }) => endpointId))).toEqual(new Set([all, wanted, undefined]));
    expect(deliveries.map(({ messageId, type, status }) => ({ messageId, type, status }))).toEqual(
      Array.from({ length: 3 }, () => ({ messageId: sent.id, type: 'render.canceled', status: 'pending' })),
    );
    expect(await webhookDeliveries.list(stranger, { limit: 10 })).toEqual([]);
    expect(await webhookDeliveries.list(accountId, { limit: 10, endpointId: all })).toHaveLength(1);
    const claimed = await webhookDeliveries.claim(10);
    const ofRequest = must(
      claimed.find(({ delivery }) => delivery.endpointId === undefined),
      'the delivery to the URL',
    );
    const [secret] = await webhookEndpoints.accountSecrets(accountId);
    expect(ofRequest).toMatchObject({ body: sent.body, secrets: [secret?.secret], delivery: { url: URL_OF_REQUEST } });
  });

  it('lists deliveries by endpoint, type, status and whether they can be sent again, in pages', async () => {
    const { webhookDeliveries, webhookEndpoints } = world().store;
    const [accountId, stranger] = [await world().account(), await world().account()];
    const [one, other] = [await endpoint(accountId), await endpoint(accountId)];
    await pending(stranger, await endpoint(stranger));
    const ids: string[] = [];
    for (let index = 0; index < 12; index += 1) {
      world().pass(1);
      const type = index % 2 === 0 ? 'webhook.test' : 'render.failed';
      const sent = await webhookDeliveries.send(accountId, index % 3 === 0 ? one : other, message(type));
      ids.push(must(sent, 'a delivery').id);
    }
    const places = async (page: Omit<DeliveryPage, 'limit'>, limit = 50): Promise<number[]> =>
      (await webhookDeliveries.list(accountId, { ...page, limit })).map(({ id }) => ids.indexOf(id));
    expect(await places({ type: 'render.failed' })).toEqual([11, 9, 7, 5, 3, 1]);
    expect(await places({ type: 'render.failed', endpointId: one })).toEqual([9, 3]);
    expect(await places({ type: 'render.failed', after: ids[7] }, 2)).toEqual([5, 3]);
    expect(await places({ status: 'failed' })).toEqual([]);
    await webhookEndpoints.setEnabled(accountId, one, false, ACTOR);
    expect(await places({ status: 'failed' })).toEqual([9, 6, 3, 0]);
    expect(await places({ status: 'pending', type: 'webhook.test' })).toEqual([10, 8, 4, 2]);
    expect(await places({ status: 'failed', isSendable: true })).toEqual([]);
    await webhookEndpoints.setEnabled(accountId, one, true, ACTOR);
    expect(await places({ status: 'failed', isSendable: true, after: ids[6] })).toEqual([3, 0]);
    await webhookEndpoints.update(accountId, one, { url: 'https://moved.example/' }, ACTOR);
    const again = must(ids[3], 'the delivery');
    expect(await webhookDeliveries.sendAgain(accountId, again)).toBe(true);
    const sent = { status: 'pending', url: 'https://moved.example/' };
    expect(await webhookDeliveries.find(accountId, again)).toMatchObject(sent);
    await webhookEndpoints.remove(accountId, one, ACTOR);
    expect(await places({ status: 'failed', isSendable: true })).toEqual([]);
  });

  it('keeps no message when nothing receives it', async () => {
    const accountId = await world().account();
    const event = await canceledRender(accountId);
    const none = { webhookUrl: undefined, batchId: undefined };
    expect(await world().store.webhookDeliveries.publish(event, message(), none)).toBe(0);
    expect(await world().engine.all('select id from webhook_messages')).toEqual([]);
  });

  it('adds the event of a batch once, after its last render has ended', async () => {
    const { renders, webhookDeliveries } = world().store;
    const other = await world().server('there/2/b');
    const accountId = await world().account();
    const batchId = randomUUID();
    const batch = { id: batchId, accountId, keyId: undefined, mode: 'live' } as const;
    const jobs = [await newRender(accountId, { batchId }), await newRender(accountId, { batchId })];
    await renders.accept(jobs, { ...OPTIONS, batch });
    const publish = async (store: Store, event: RenderEvent) =>
      await store.webhookDeliveries.publish(event, message(), { webhookUrl: undefined, batchId });
    const [first, second] = jobs.map(({ id }) => id);
    await renders.cancel({ accountId }, first ?? '');
    await publish(world().store, await eventOf(first ?? ''));
    expect(await renders.events.pending(10)).toEqual([]);
    await renders.cancel({ accountId }, second ?? '');
    const event = await eventOf(second ?? '');
    await Promise.all([publish(world().store, event), publish(other, event)]);
    const completed = await renders.events.pending(10);
    expect(completed).toMatchObject([{ type: 'batch.completed', renderId: batchId, accountId }]);
    const [only] = completed;
    await webhookDeliveries.publish(must(only, 'the event'), message(), { webhookUrl: undefined, batchId: undefined });
    expect(await renders.events.pending(10)).toEqual([]);
  });

  it('adds the event of a batch when its last render is deleted before the event of that render is published', async () => {
    const { renders, webhookDeliveries } = world().store;
    const accountId = await world().account();
    const batchId = randomUUID();
    const batch = { id: batchId, accountId, keyId: undefined, mode: 'live' } as const;
    const jobs = [await newRender(accountId, { batchId }), await newRender(accountId, { batchId })];
    await renders.accept(jobs, { ...OPTIONS, batch });
    const [first, second] = jobs.map(({ id }) => id) as [string, string];
    const none = { webhookUrl: undefined, batchId: undefined };
    const types = async () => (await renders.events.pending(10)).map(({ type }) => type);
    await renders.cancel({ accountId }, first);
    await webhookDeliveries.publish(await eventOf(first), message(), { ...none, batchId });
    await renders.cancel({ accountId }, second);
    // The event of this render was published, so deleting it changes nothing.
    await renders.remove({ accountId }, first);
    expect(await types()).toEqual(['render.canceled']);
    await renders.remove({ accountId }, second);
    expect((await types()).toSorted()).toEqual(['batch.completed', 'render.canceled']);
    expect(await eventOf(batchId)).toMatchObject({ accountId, type: 'batch.completed' });
  });

  it('lets another server send a delivery only when the lease has run out, and ignores the first one then', async () => {
    const { webhookDeliveries } = world().store;
    const other = await world().server('there/2/b');
    const accountId = await world().account();
    const deliveryId = await pending(accountId, await endpoint(accountId));
    const lost = await claimOne();
    expect(await other.webhookDeliveries.claim(10)).toEqual([]);
    world().pass(59_000);
    expect(await other.webhookDeliveries.claim(10)).toEqual([]);
    world().pass(2_000);
    const taken = await claimOne(other);
    expect(taken.delivery.id).toBe(deliveryId);
    expect((await webhookDeliveries.endAttempt(lost, attempt(), { kind: 'given up' })).isWritten).toBe(false);
    expect((await other.webhookDeliveries.endAttempt(taken, attempt(OK), { kind: 'succeeded' })).isWritten).toBe(true);
    const found = await webhookDeliveries.details(accountId, deliveryId);
    expect(found).toMatchObject({ delivery: { status: 'succeeded', attempts: 1, lastStatus: 200 } });
    expect(found?.attempts).toEqual([attempt(OK)]);
  });

  it('releases the deliveries of a dead process at once', async () => {
    const { webhookDeliveries } = world().store;
    const other = await world().server('there/2/b');
    const accountId = await world().account();
    const deliveryId = await pending(accountId, await endpoint(accountId));
    await claimOne(other);
    expect(await webhookDeliveries.releaseLost(() => false)).toEqual([]);
    expect(await webhookDeliveries.releaseLost((owner) => owner === 'there/2/b')).toEqual([deliveryId]);
    expect((await claimOne()).delivery.id).toBe(deliveryId);
    expect(await webhookDeliveries.releaseLost(() => true)).toEqual([]);
  });

  it('keeps to the time of a retry, on whatever server, and counts a repeated write once', async () => {
    const { webhookDeliveries } = world().store;
    const other = await world().server('there/2/b');
    const accountId = await world().account();
    const deliveryId = await pending(accountId, await endpoint(accountId));
    const claimed = await claimOne();
    await webhookDeliveries.endAttempt(claimed, attempt(), RETRY);
    expect((await webhookDeliveries.endAttempt(claimed, attempt(), RETRY)).isWritten).toBe(false);
    world().pass(5 * MINUTE - 1);
    expect(await other.webhookDeliveries.claim(10)).toEqual([]);
    world().pass(1);
    const again = await claimOne(other);
    expect(again.delivery).toMatchObject({ id: deliveryId, attempts: 1, status: 'pending', lastStatus: 500 });
    await other.webhookDeliveries.giveBack(again);
    expect((await claimOne()).delivery).toMatchObject({ id: deliveryId, attempts: 1 });
  });

  it('lets no receiver and no account take the place of others', async () => {
    const { webhookDeliveries } = world().store;
    const [busy, quiet] = [await world().account(), await world().account()];
    const endpoints: string[] = [];
    for (let index = 0; index < 6; index += 1) endpoints.push(await endpoint(busy));
    for (const id of endpoints) for (let index = 0; index < 6; index += 1) await pending(busy, id);
    world().pass(1_000);
    await pending(quiet, await endpoint(quiet));
    // Six receivers of the busy account and one of the quiet one.
    const first = await webhookDeliveries.claim(100);
    expect(first.map(({ delivery }) => delivery.accountId).toSorted()).toEqual(
      [...Array.from({ length: 6 }, () => busy), quiet].toSorted(),
    );
    await pending(quiet, await endpoint(quiet));
    expect((await webhookDeliveries.claim(1))[0]?.delivery.accountId).toBe(quiet);
    let claimed = first.filter(({ delivery }) => delivery.accountId === busy);
    for (let more = [...claimed]; more.length > 0; claimed.push(...more)) {
      more = await webhookDeliveries.claim(1);
      if (claimed.length > 30) throw new Error('there is no limit');
    }
    expect(claimed).toHaveLength(16);
    const counts = endpoints.map((id) => claimed.filter(({ delivery }) => delivery.endpointId === id).length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(4);
    for (const one of claimed) await webhookDeliveries.endAttempt(one, attempt(OK), { kind: 'succeeded' });
    claimed = await webhookDeliveries.claim(100);
    expect(claimed.length).toBeGreaterThan(0);
  });

  it('sends to the URL of one request while the receiver of others of the account is slow', async () => {
    const { webhookDeliveries } = world().store;
    const accountId = await world().account();
    const publish = async (webhookUrl: string): Promise<void> => {
      const event = await canceledRender(accountId);
      await webhookDeliveries.publish(event, message('render.canceled'), { webhookUrl, batchId: undefined });
    };
    for (let index = 0; index < 6; index += 1) await publish('https://slow.example/hook');
    for (let index = 0; index < 4; index += 1) expect(await webhookDeliveries.claim(10)).toHaveLength(1);
    expect(await webhookDeliveries.claim(10)).toEqual([]);
    world().pass(1_000);
    await publish('https://fast.example/hook');
    const claimed = await webhookDeliveries.claim(10);
    expect(claimed.map(({ delivery }) => delivery.url)).toEqual(['https://fast.example/hook']);
  });

  it('sends a delivery again with all its attempts, and shows the earlier ones', async () => {
    const { webhookDeliveries } = world().store;
    const [accountId, stranger] = [await world().account(), await world().account()];
    const deliveryId = await pending(accountId, await endpoint(accountId));
    await webhookDeliveries.endAttempt(await claimOne(), attempt(), { kind: 'given up' });
    expect(await webhookDeliveries.claim(10)).toEqual([]);
    expect(await webhookDeliveries.sendAgain(stranger, deliveryId)).toBe(false);
    expect(await webhookDeliveries.find(stranger, deliveryId)).toBeUndefined();
    expect(await webhookDeliveries.sendAgain(accountId, deliveryId)).toBe(true);
    const again = await claimOne();
    expect(again.delivery).toMatchObject({ id: deliveryId, attempts: 0, status: 'pending', finishedAt: undefined });
    // While it is being sent, it keeps its lease.
    expect(await webhookDeliveries.sendAgain(accountId, deliveryId)).toBe(true);
    expect(await webhookDeliveries.claim(10)).toEqual([]);
    world().pass(10);
    await webhookDeliveries.endAttempt(again, attempt(OK), { kind: 'succeeded' });
    expect((await webhookDeliveries.details(accountId, deliveryId))?.attempts.map(({ status }) => status)).toEqual([
      200, 500,
    ]);
  });

  it('keeps the newest 50 attempts of a delivery that is sent again and again', async () => {
    const { webhookDeliveries } = world().store;
    const accountId = await world().account();
    const id = await endpoint(accountId);
    const [other, deliveryId] = [await pending(accountId, id), await pending(accountId, id)];
    const [first, second] = [await claimOne(), await claimOne()];
    for (const claimed of [first, second])
      await webhookDeliveries.endAttempt(claimed, attempt(OK), { kind: 'succeeded' });
    for (let number = 2; number <= 52; number += 1) {
      expect(await webhookDeliveries.sendAgain(accountId, deliveryId)).toBe(true);
      // A claim that is given back has no attempt.
      if (number === 30) await webhookDeliveries.giveBack(await claimOne());
      await webhookDeliveries.endAttempt(await claimOne(), attempt({ durationMs: number }), { kind: 'given up' });
    }
    const newest = Array.from({ length: 50 }, (_, index) => 52 - index);
    const found = await webhookDeliveries.details(accountId, deliveryId);
    expect(found?.attempts.map(({ durationMs }) => durationMs)).toEqual(newest);
    expect(
      await world().engine.all('select number from webhook_attempts where delivery_id = :deliveryId', { deliveryId }),
    ).toHaveLength(50);
    expect((await webhookDeliveries.details(accountId, other))?.attempts).toHaveLength(1);
    expect(await webhookDeliveries.find(accountId, deliveryId)).toEqual(found?.delivery);
  });

  it('ends a delivery when its endpoint turns out to be disabled or deleted', async () => {
    const { webhookDeliveries } = world().store;
    const accountId = await world().account();
    const changes = [
      "update webhook_endpoints set state = 'disabled' where id = :id",
      'delete from webhook_endpoints where id = :id',
    ];
    for (const change of [...changes, 'delete from webhook_secrets where lane = :id']) {
      const id = await endpoint(accountId);
      const deliveryId = await pending(accountId, id);
      await world().engine.run(change, { id });
      expect(await webhookDeliveries.claim(10)).toEqual([]);
      const failed = { status: 'failed', lastError: 'The endpoint was disabled or deleted.', attempts: 0 };
      expect(await webhookDeliveries.find(accountId, deliveryId)).toMatchObject(failed);
    }
    world().pass(HOUR);
    expect(await webhookDeliveries.claim(10)).toEqual([]);
  });

  it('sends deliveries after the clock of a server was ahead for a while', async () => {
    const { webhookDeliveries } = world().store;
    const accountId = await world().account();
    const ids = [await endpoint(accountId), await endpoint(accountId), await endpoint(accountId)] as const;
    const [added, retried, leased] = ids;
    const now = world().clock().toISOString();
    world().pass(365 * DAY);
    await pending(accountId, retried);
    await webhookDeliveries.endAttempt(await claimOne(), attempt(), RETRY);
    // As many as a receiver can have at the same time, on a server that crashes.
    for (let index = 0; index < 4; index += 1) await pending(accountId, leased);
    for (let index = 0; index < 4; index += 1) await claimOne();
    await pending(accountId, added);
    world().goTo(now);
    const claimed = await webhookDeliveries.claim(10);
    expect(new Set(claimed.map(({ delivery }) => delivery.endpointId))).toEqual(new Set(ids));
    expect(claimed).toHaveLength(3);
    // The new leases are valid.
    for (let index = 0; index < 3; index += 1) expect((await claimOne()).delivery.endpointId).toBe(leased);
    expect(await webhookDeliveries.claim(10)).toEqual([]);
  });

  it('sends retries before new deliveries to the same receiver, and new ones in their order', async () => {
    const { webhookDeliveries } = world().store;
    const accountId = await world().account();
    const id = await endpoint(accountId);
    const ids = [await pending(accountId, id)];
    await webhookDeliveries.endAttempt(await claimOne(), attempt(), RETRY);
    for (let index = 0; index < 3; index += 1, world().pass(MINUTE)) ids.push(await pending(accountId, id));
    world().pass(2 * MINUTE);
    const claimed: string[] = [];
    for (let index = 0; index < 4; index += 1) claimed.push((await claimOne()).delivery.id);
    expect(claimed).toEqual(ids);
  });

  it('waits for the longest pause of the schedule, and shows when an attempt is due', async () => {
    const { webhookDeliveries } = world().store;
    const accountId = await world().account();
    const deliveryId = await pending(accountId, await endpoint(accountId));
    const now = world().clock();
    expect(await webhookDeliveries.find(accountId, deliveryId)).toMatchObject({ dueAt: now.toISOString() });
    await webhookDeliveries.endAttempt(await claimOne(), attempt(), { kind: 'retry', delayMs: 10 * HOUR });
    const dueAt = new Date(now.getTime() + 10 * HOUR).toISOString();
    expect(await webhookDeliveries.find(accountId, deliveryId)).toMatchObject({ dueAt });
    expect(await webhookDeliveries.claim(10)).toEqual([]);
    // The clock of another server is a little behind.
    world().pass(-HOUR / 2);
    expect(await webhookDeliveries.claim(10)).toEqual([]);
  });

  it('sends nothing for a suspended account, and what was pending when it is resumed', async () => {
    const { accounts, renders, webhookDeliveries } = world().store;
    const [accountId, other] = [await world().account(), await world().account()];
    const waiting = await pending(accountId, await endpoint(accountId));
    const event = await canceledRender(accountId);
    await accounts.setSuspended(accountId, true, ACTOR);
    expect(await webhookDeliveries.claim(10)).toEqual([]);
    const receiver = { webhookUrl: URL_OF_REQUEST, batchId: undefined };
    expect(await webhookDeliveries.publish(event, message(), receiver)).toBe(0);
    expect(await renders.events.pending(10)).toEqual([]);
    const others = await pending(other, await endpoint(other));
    expect((await webhookDeliveries.claim(10)).map(({ delivery }) => delivery.id)).toEqual([others]);
    await accounts.setSuspended(accountId, false, ACTOR);
    expect((await webhookDeliveries.claim(10)).map(({ delivery }) => delivery.id)).toEqual([waiting]);
  });

  it('lists deliveries newest first, page by page', async () => {
    const { webhookDeliveries } = world().store;
    const accountId = await world().account();
    const id = await endpoint(accountId);
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1, world().pass(1)) ids.unshift(await pending(accountId, id));
    const first = await webhookDeliveries.list(accountId, { limit: 2 });
    const second = await webhookDeliveries.list(accountId, { limit: 3, after: first.at(-1)?.id });
    expect([...first, ...second].map((delivery) => delivery.id)).toEqual(ids);
  });

  it('deletes old messages with their deliveries, but not what is still to be sent', async () => {
    const { webhookDeliveries } = world().store;
    const accountId = await world().account();
    const id = await endpoint(accountId);
    const old = await pending(accountId, id);
    await webhookDeliveries.endAttempt(await claimOne(), attempt(OK), { kind: 'succeeded' });
    const waiting = await pending(accountId, id);
    world().pass(DAY);
    const recent = await pending(accountId, id);
    expect(await webhookDeliveries.deleteBefore(new Date(world().clock().getTime() - HOUR))).toBe(1);
    expect(await webhookDeliveries.find(accountId, old)).toBeUndefined();
    expect((await webhookDeliveries.list(accountId, { limit: 10 })).map((one) => one.id)).toEqual([recent, waiting]);
  });
}
