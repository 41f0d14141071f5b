// Random commands of several servers on stored renders, with crashes between any two of them. In a crash, a server
// simply never continues its attempt. The expected state is computed from the commands that reported success.

import { deepStrictEqual as same, ok } from 'node:assert';
import { must } from '../../src/shared/must.ts';
import type { Engine } from '../../src/service/store/engine.ts';
import { reconcile } from '../../src/service/store/ledger/reconcile.ts';
import { AttemptLost } from '../../src/service/store/renders/lock-attempt.ts';
import type { ClaimedRender, NewRender, RenderSuccess } from '../../src/service/store/renders/render.ts';
import { integer, text } from '../../src/service/store/rows.ts';
import { createStore, type Store } from '../../src/service/store/store.ts';
import type { Random } from './random.ts';
import { START } from './world.ts';

const ACCOUNTS = ['ann', 'bob', 'eve'];
const CREDIT_LIMIT = 1_000_000;
const LIMITS = { queuedRenders: 40, storedBytes: 1_000_000, serviceBytes: 1e12, testRendersPerDay: 1_000_000 };

interface Work {
  readonly claim: ClaimedRender;
  readonly credits: number;
  hasReserved: boolean;
}

interface Server {
  readonly owner: string;
  readonly store: Store;
  readonly work: Map<string, Work>;
}

export class RendersModel {
  readonly #engine: Engine;
  readonly #random: Random;
  readonly #servers: readonly Server[];
  /** The end of each render and its charge, by render id. */
  readonly #ended = new Map<string, { readonly how: string; readonly credits: number; readonly accountId: string }>();
  readonly #accepted = new Map<string, NewRender>();
  #now = START.getTime();
  #names = 0;
  commands = 0;
  crashes = 0;

  constructor(engines: readonly Engine[], random: Random) {
    this.#engine = must(engines[0], 'an engine');
    this.#random = random;
    this.#servers = engines.map((engine, index) => {
      const owner = `there/${index}/x`;
      return { owner, store: createStore(engine, () => new Date(this.#now), owner), work: new Map() };
    });
  }

  async run(commands: number): Promise<void> {
    const { store } = this.#any();
    for (const id of ACCOUNTS) {
      await store.accounts.create({ id, name: id }, 'test');
      await store.accounts.subscribe(id, 'free', 'now', 'test');
    }
    const choices: (() => Promise<void>)[] = [
      ...repeat(20, async () => await this.#accept()),
      ...repeat(25, async () => await this.#claim()),
      ...repeat(20, async () => await this.#reserve()),
      ...repeat(20, async () => await this.#succeed()),
      ...repeat(4, async () => await this.#fail()),
      ...repeat(4, async () => await this.#giveBack()),
      ...repeat(5, async () => await this.#renew()),
      ...repeat(5, async () => await this.#cancel()),
      ...repeat(6, async () => this.#crash()),
      ...repeat(3, async () => await this.#sweep()),
      ...repeat(6, async () => this.#passTime()),
    ];
    for (; this.commands < commands; this.commands += 1) {
      await this.#random.pick(choices)();
      if (this.commands % 500 === 0) await this.#compare();
    }
    await this.#finishAll();
    await this.#compare();
  }

  async #accept(): Promise<void> {
    const { store } = this.#any();
    const accountId = this.#random.pick(ACCOUNTS);
    const subscription = must((await store.accounts.find(accountId))?.subscription, 'the subscription');
    this.#names += 1;
    const render: NewRender = {
      id: `render-${this.#names}`,
      accountId,
      keyId: undefined,
      mode: 'live',
      batchId: undefined,
      request: '{}',
      plan: 'free',
      period: subscription.period,
      renews: true,
      lane: 'image',
      asset: undefined,
      maxRunning: 4,
    };
    const { kind } = await store.renders.accept([render], { limits: LIMITS });
    if (kind === 'accepted') this.#accepted.set(render.id, render);
    else same(kind, 'over limit');
  }

  async #claim(): Promise<void> {
    const server = this.#any();
    const claim = await server.store.renders.claim('image');
    if (claim === undefined) return;
    ok(!this.#ended.has(claim.render.id), 'a render that has ended was claimed');
    server.work.set(claim.render.id, { claim, credits: 1 + (this.#names % 5), hasReserved: false });
  }

  async #reserve(): Promise<void> {
    const [server, work] = this.#anyWork() ?? [];
    if (!server || !work) return;
    const { id: renderId, accountId, period } = work.claim.render;
    const hold = {
      renderId,
      accountId,
      keyId: undefined,
      mode: 'live',
      kind: 'image',
      credits: work.credits,
      period,
    } as const;
    try {
      const attempt = work.claim.attempt.number;
      same((await server.store.ledger.reserve({ ...hold, limit: CREDIT_LIMIT, attempt })).granted, true);
      work.hasReserved = true;
    } catch (error) {
      ok(error instanceof AttemptLost, String(error));
      server.work.delete(renderId);
    }
  }

  /** Succeeds only after the reservation, as in a real attempt. Sometimes the success is reported twice. */
  async #succeed(): Promise<void> {
    const [server, work] = this.#anyWork() ?? [];
    if (!server || !work?.hasReserved) return;
    const { id } = work.claim.render;
    const success = successOf(id, this.#now);
    const results = [];
    for (let times = this.#random.whole(8) === 0 ? 2 : 1; times > 0; times -= 1) {
      results.push(await server.store.renders.succeed(work.claim.attempt, success));
    }
    server.work.delete(id);
    if (results[0]) {
      await this.#end(id, 'succeeded');
      // The price of the attempt that succeeded, which may differ from that of an earlier one.
      same(this.#ended.get(id)?.credits, work.credits);
    }
    same(results[1] ?? false, false);
  }

  async #fail(): Promise<void> {
    const [server, work] = this.#anyWork() ?? [];
    if (!server || !work) return;
    const { id } = work.claim.render;
    server.work.delete(id);
    const failure = { error: '{}', code: 'asset_undecodable', durationMs: 1 };
    if (await server.store.renders.fail(work.claim.attempt, failure)) await this.#end(id, 'failed');
  }

  async #giveBack(): Promise<void> {
    const [server, work] = this.#anyWork() ?? [];
    if (!server || !work) return;
    server.work.delete(work.claim.render.id);
    await server.store.renders.giveBack(work.claim.attempt, this.#random.whole(3_000));
  }

  async #renew(): Promise<void> {
    const [server, work] = this.#anyWork() ?? [];
    if (!server || !work) return;
    const isOurs = await server.store.renders.renew(work.claim.attempt, 0.5);
    if (isOurs) ok(!this.#ended.has(work.claim.render.id), 'the lease of an ended render was renewed');
    else server.work.delete(work.claim.render.id);
  }

  async #cancel(): Promise<void> {
    const id = this.#random.pick([...this.#accepted.keys()].slice(-60).concat('none'));
    const render = this.#accepted.get(id);
    if (render === undefined) return;
    const after = await this.#any().store.renders.cancel({ accountId: render.accountId }, id);
    if (this.#ended.has(id)) same(after?.status, this.#ended.get(id)?.how);
    else {
      same(after?.status, 'canceled');
      await this.#end(id, 'canceled');
    }
  }

  /** Zombies: sometimes the server only forgets a part of its work and goes on with the rest. */
  #crash(): void {
    const { work } = this.#any();
    for (const id of work.keys()) if (this.#random.whole(3) > 0) work.delete(id);
    this.crashes += 1;
  }

  async #sweep(): Promise<void> {
    const server = this.#any();
    const gone = this.#random.pick(this.#servers).owner;
    const isGone = (owner: string): boolean => owner === gone && this.#random.whole(2) === 0;
    same(await server.store.ledger.sweep(isGone), []);
    await server.store.renders.releaseLost(isGone);
  }

  #passTime(): void {
    this.#now += this.#random.pick([10, 500, 4_000, 12_000, 31_000, 90_000]);
  }

  /** Every accepted render ends, whatever happened before. */
  async #finishAll(): Promise<void> {
    for (const { work } of this.#servers) work.clear();
    this.#now += 600_000;
    const server = this.#any();
    for (
      let claim = await server.store.renders.claim('image');
      claim;
      claim = await server.store.renders.claim('image')
    ) {
      const work = { claim, credits: 2, hasReserved: false };
      server.work.set(claim.render.id, work);
      while (server.work.size > 0) await this.#random.pick([() => this.#reserve(), () => this.#succeed()])();
    }
    same(
      [...this.#accepted.keys()].filter((id) => !this.#ended.has(id)),
      [],
    );
  }

  async #end(id: string, how: string): Promise<void> {
    ok(!this.#ended.has(id), `${id} ended twice`);
    const [hold] = await this.#engine.all('select state, credits from holds where id = :id', { id });
    if (hold !== undefined) same(text(hold, 'state'), how === 'succeeded' ? 'settled' : 'released');
    const credits = hold !== undefined && how === 'succeeded' ? integer(hold, 'credits') : 0;
    this.#ended.set(id, { how, credits, accountId: must(this.#accepted.get(id), 'the render').accountId });
  }

  async #compare(): Promise<void> {
    same(await reconcile(this.#engine), []);
    for (const accountId of ACCOUNTS) {
      const [row] = await this.#engine.all(
        'select coalesce(sum(used), 0) as used from periods where account_id = :accountId',
        { accountId },
      );
      const charged = [...this.#ended.values()].filter((end) => end.accountId === accountId);
      same(
        integer(must(row, 'the sum'), 'used'),
        charged.reduce((sum, { credits }) => sum + credits, 0),
      );
    }
    const leaked = await this.#engine.all(
      `select r.id from holds r join renders j on j.id = r.id
       where r.state = 'reserved' and j.status in ('succeeded', 'failed', 'canceled')`,
    );
    same(leaked, []);
    const [events] = await this.#engine.all(
      'select count(*) as n, count(distinct render_id) as renders from render_events',
    );
    same(events, { n: this.#ended.size, renders: this.#ended.size });
  }

  #any(): Server {
    return this.#random.pick(this.#servers);
  }

  #anyWork(): [Server, Work] | undefined {
    const busy = this.#servers.filter(({ work }) => work.size > 0);
    if (busy.length === 0) return undefined;
    const server = this.#random.pick(busy);
    return [server, this.#random.pick([...server.work.values()])];
  }
}

function successOf(id: string, now: number): RenderSuccess {
  const output = { name: `outputs/${id}.1`, bytes: 10, token: `token-${id}`, expiresAt: new Date(now + 1_000) };
  return { output, result: '{}', sourceType: 'image', credits: 1, durationMs: 1 };
}

function repeat<Item>(count: number, item: Item): Item[] {
  return Array.from({ length: count }, () => item);
}
