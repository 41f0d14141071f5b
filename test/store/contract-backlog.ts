import { expect, it } from 'vitest';
import { renderSetup } from './render-setup.ts';
import { webhookSetup } from './webhook-setup.ts';
import type { World } from './world.ts';

const MINUTE = 60_000;
const NOTHING = { waiting: 0, claimed: 0, oldestSeconds: 0 };

export function backlogContract(world: () => World): void {
  const { accepted, claimed, reserve, success } = renderSetup(world);
  const { endpoint, pending, claimOne, attempt } = webhookSetup(world);

  it('counts accepted renders by lane until they end, with the age of the oldest', async () => {
    const { backlog, renders } = world().store;
    const account = await world().account();
    expect((await backlog.read()).renders).toEqual({ image: NOTHING, video: NOTHING, fetch: NOTHING, put: NOTHING });
    await accepted(account);
    world().pass(MINUTE);
    await accepted(account);
    await accepted(account, { lane: 'fetch' });
    const claim = await claimed();
    world().pass(MINUTE);
    expect((await backlog.read()).renders).toEqual({
      image: { waiting: 1, claimed: 1, oldestSeconds: 120 },
      video: NOTHING,
      fetch: { waiting: 1, claimed: 0, oldestSeconds: 60 },
      put: NOTHING,
    });
    await reserve(claim);
    await renders.succeed(claim.attempt, success(claim.render.id));
    expect((await backlog.read()).renders.image).toEqual({ waiting: 1, claimed: 0, oldestSeconds: 60 });
  });

  it('counts webhooks that are late, but not those that wait for their next attempt or are being sent', async () => {
    const { backlog, webhookDeliveries } = world().store;
    const account = await world().account();
    const [one, other] = [await endpoint(account), await endpoint(account)];
    await pending(account, one);
    await pending(account, other);
    world().pass(MINUTE);
    expect((await backlog.read()).webhooks).toEqual({ waiting: 2, oldestSeconds: 60 });
    const sent = await claimOne();
    expect((await backlog.read()).webhooks).toEqual({ waiting: 1, oldestSeconds: 60 });
    await webhookDeliveries.endAttempt(sent, attempt(), { kind: 'retry', delayMs: 10 * MINUTE });
    expect((await backlog.read()).webhooks).toEqual({ waiting: 1, oldestSeconds: 60 });
    world().pass(11 * MINUTE);
    expect((await backlog.read()).webhooks).toEqual({ waiting: 2, oldestSeconds: 12 * 60 });
  });
}
