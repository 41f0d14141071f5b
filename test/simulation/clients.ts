// The clients of a simulation. They repeat a request with the same idempotency key until they have a response, and remember what
// they got.

import { randomUUID } from 'node:crypto';
import { DEFAULT_PLANS } from '../../src/service/account/plans.ts';
import type { Caller } from '../../src/service/account/caller.ts';
import { AppError } from '../../src/shared/errors.ts';
import { must } from '../../src/shared/must.ts';
import { newRender } from '../../src/service/renders/new-render.ts';
import { parseRequest, readForm } from '../../src/service/renders/parse.ts';
import { performRender } from '../../src/service/renders/perform-render.ts';
import { accountOrder } from '../../src/service/renders/account-order.ts';
import { FailedDecodes } from '../../src/service/limits/failed-decodes.ts';
import { LocalLimits } from '../../src/service/limits/local-limits.ts';
import type { Random } from '../store/random.ts';
import type { History } from './history.ts';
import type { Chances, SimulatedRenderer } from './simulated-services.ts';
import type { SimulatedServer } from './simulated-server.ts';
import type { SimulatedTime } from './simulated-time.ts';

export interface ClientWorld {
  readonly time: SimulatedTime;
  readonly random: Random;
  readonly chances: Chances;
  readonly history: History;
  readonly renderer: SimulatedRenderer;
  /** A server that runs, or undefined while there is none. */
  readonly anyServer: () => SimulatedServer | undefined;
}

const RESPONSE_TIMEOUT_MS = 5_000;
const LIMITS = { queuedRenders: 10_000, storedBytes: 1e12, serviceBytes: 1e12, testRendersPerDay: 1_000 };

/** A render whose client waited for it. */
export interface WaitingRender {
  readonly accountId: string;
  readonly server: SimulatedServer;
  /** Set when the client has the last byte. */
  isDelivered: boolean;
}

export class Clients {
  /** Ids of accepted renders, with their accounts. */
  readonly accepted = new Map<string, string>();
  readonly waiting = new Map<string, WaitingRender>();
  /** Requests that have no response yet. */
  unanswered = 0;
  readonly #world: ClientWorld;
  readonly #callers: readonly Caller[];
  #requests = 0;

  constructor(world: ClientWorld, callers: readonly Caller[]) {
    this.#world = world;
    this.#callers = callers;
  }

  /** Sends a request of some kind. */
  act(): void {
    const { random } = this.#world;
    // The first account sends most of them.
    const caller = must(
      this.#callers[Math.max(0, random.whole(this.#callers.length * 2) - this.#callers.length)],
      'a caller',
    );
    const kind = random.whole(10);
    if (kind < 6) void this.#accept(caller);
    else if (kind < 9) void this.#render(caller);
    else void this.#cancel();
  }

  async #accept(caller: Caller): Promise<void> {
    const { random, history } = this.#world;
    this.#requests += 1;
    const key = `key-${this.#requests}`;
    const form = formOf(random.whole(10) === 0 ? 'damaged' : 'Hello');
    this.unanswered += 1;
    let renderId: string | undefined;
    while (renderId === undefined) {
      renderId = await this.#call(async (server, id) => {
        const parsed = await parseRequest(readForm(form), { faultOf: () => undefined });
        const render = newRender(caller, id, { parsed });
        const idempotency = { key, fingerprint: key };
        const acceptance = await server.store.renders.accept([render], { limits: LIMITS, idempotency });
        if (acceptance.kind === 'accepted') return id;
        return acceptance.kind === 'replayed' ? acceptance.id : undefined;
      });
    }
    this.accepted.set(renderId, caller.accountId);
    history.add('client', `knows that ${renderId} is accepted (${key})`, ['', renderId, key]);
    this.unanswered -= 1;
  }

  /** Sends a request to some server. Returns undefined if it has to be repeated. */
  async #call<Result>(work: (server: SimulatedServer, id: string) => Promise<Result>): Promise<Result | undefined> {
    const { time, random, chances, anyServer } = this.#world;
    const server = anyServer();
    await time.wait(random.whole(50));
    const isLost = !chances.isHealed && random.whole(15) === 0;
    if (server === undefined || isLost) return await time.wait(RESPONSE_TIMEOUT_MS, undefined);
    const id = randomUUID();
    const responded = server
      .do(async () => await work(server, id))
      .catch((error: unknown) => {
        if (error instanceof AppError) return undefined;
        throw error;
      });
    const response = await Promise.race([responded, time.wait(RESPONSE_TIMEOUT_MS, undefined)]);
    const isResponseLost = !chances.isHealed && random.whole(15) === 0;
    return isResponseLost ? undefined : response;
  }

  /**
   * A render that a client waits for isn't repeated. Its client may leave while it is delivered. The file of some goes to a
   * `put_url` instead, and then the row of the render says how that ended.
   */
  async #render(caller: Caller): Promise<void> {
    const { anyServer, renderer, random, time } = this.#world;
    const server = anyServer();
    if (server === undefined) return;
    const renderId = randomUUID();
    const { accountId } = caller;
    const render: WaitingRender = { accountId, server, isDelivered: false };
    const isPut = random.whole(2) === 0;
    if (!isPut) this.waiting.set(renderId, render);
    const form = formOf('Hello', isPut ? { put_url: 'https://bucket.example/' } : {});
    const parsed = await parseRequest(readForm(form), { faultOf: () => undefined });
    if ('assetUrl' in parsed) return;
    const { signal } = new AbortController();
    const budgetMs = { image: 1e9, video: 1e9 };
    const services = {
      failedDecodes: new FailedDecodes(new LocalLimits()),
      reservations: server.reservations,
    } as never;
    const order = accountOrder(services, parsed, { renderId, caller, limits: caller.plan.limits, isReplay: false });
    await server
      .do(
        async () =>
          await performRender({
            ...order,
            renderId,
            lease: renderer.open({ account: accountId, class: 'interactive', budgetMs, signal }),
            directory: server.directory(renderId),
            signal,
            deliver: async (finished, paid) => {
              const { durationMs } = finished;
              await time.wait(random.whole(300));
              if (isPut) {
                const result = {
                  renderId,
                  caller,
                  finished,
                  credits: paid.credits,
                  form,
                  parsed,
                  remembered: undefined,
                };
                await server.results.add(result, signal);
                await paid.handOver();
                return;
              }
              render.isDelivered = true;
              await paid.settle(durationMs);
            },
          }),
      )
      .catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error;
      });
  }

  async #cancel(): Promise<void> {
    const { random, anyServer } = this.#world;
    const ids = [...this.accepted.keys()].slice(-3);
    const server = anyServer();
    if (ids.length === 0 || server === undefined) return;
    const id = random.pick(ids);
    await this.#call(async () => {
      await server.do(
        async () => await server.store.renders.cancel({ accountId: must(this.accepted.get(id), 'its account') }, id),
      );
      return true;
    });
  }
}

export function callerOf(accountId: string, subscription: Caller['subscription']): Caller {
  return { accountId, keyId: undefined, mode: 'live', plan: DEFAULT_PLANS.lowest, subscription };
}

function formOf(text: string, more: Readonly<Record<string, string>> = {}) {
  const fields = Object.entries({ text, width: 64, height: 64, ...more }).map(([name, value]) => ({ name, value }));
  return { fields, isJson: true, faults: [], hasAsset: false, asset: undefined };
}
