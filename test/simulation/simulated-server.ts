// One API server of a simulation: the real store, ledger, runners and housekeeping, with simulated surroundings.

import pino from 'pino';
import { DEFAULT_PLANS } from '../../src/service/account/plans.ts';
import { FailedDecodes } from '../../src/service/limits/failed-decodes.ts';
import { LocalLimits } from '../../src/service/limits/local-limits.ts';
import { Housekeeping, type HousekeepingOptions } from '../../src/main/housekeeping.ts';
import { CreditReservations } from '../../src/service/renders/reserve.ts';
import type { PutTargets } from '../../src/service/renders/put-targets.ts';
import { RenderRunner, type RenderRunnerDependencies } from '../../src/service/renders/render-runner.ts';
import { StoredResults } from '../../src/service/renders/stored-results.ts';
import type { ObjectStorage } from '../../src/service/storage/object-storage.ts';
import { unavailable, type Engine } from '../../src/service/store/engine.ts';
import { createStore, type Store } from '../../src/service/store/store.ts';
import type { Logger } from '../../src/service/telemetry/logger.ts';
import { Metrics } from '../../src/service/telemetry/metrics.ts';
import { createWebhookRunner } from '../../src/service/webhooks/webhook-runner.ts';
import type { LazyDirectory } from '../../src/engine/media/work-area.ts';
import type { Random } from '../store/random.ts';
import { type Faults, FaultyEngine } from './faulty-engine.ts';
import type { History } from './history.ts';
import type { Chances, SimulatedReceivers, SimulatedRenderer, SimulatedStorage } from './simulated-services.ts';
import { inProcess, type SimulatedProcess, type SimulatedTime } from './simulated-time.ts';

export interface Surroundings {
  readonly engine: Engine;
  readonly time: SimulatedTime;
  readonly random: Random;
  readonly chances: Chances;
  readonly history: History;
  readonly storage: SimulatedStorage;
  readonly receivers: SimulatedReceivers;
  readonly renderer: SimulatedRenderer;
  readonly onCrash: (server: SimulatedServer) => void;
}

/** Every file goes to the same URL, because a receiver of the simulation keeps none. */
const TARGETS = {
  store: async () => undefined,
  read: async () => ({ url: 'https://bucket.example/', headers: {} }),
} as unknown as PutTargets;

/** There is one set of metrics, because creating it takes longer than a simulated minute. */
const metrics = new Metrics('simulation');

export class SimulatedServer implements SimulatedProcess {
  readonly name: string;
  isDead = false;
  clockError = 0;
  pausedUntil = 0;
  /** True if its clock was ever so wrong that it may consider others dead. */
  hadWrongClock = false;
  readonly store: Store;
  readonly reservations: CreditReservations;
  readonly results: StoredResults;
  readonly #around: Surroundings;
  readonly #storage: ObjectStorage;
  readonly #logger: Logger;
  /** It crashes after this many more statements. */
  #statementsLeft = Number.POSITIVE_INFINITY;
  /** Until then, the database is unavailable. */
  #cutOffUntil = 0;

  constructor(name: string, around: Surroundings) {
    this.name = name;
    this.#around = around;
    this.#logger = createHistoryLogger(name, around.history);
    const { engine, time } = around;
    this.store = createStore(new FaultyEngine(engine, this.#faults()), () => time.clock(), `there/${name}/x`);
    this.reservations = new CreditReservations(this.store.ledger, this.#logger);
    this.#storage = around.storage.of(
      async () => await this.#useStorage(),
      () => time.now,
    );
    this.results = new StoredResults({
      renders: this.store.renders,
      storage: this.#storage,
      targets: TARGETS,
      resultHours: 24,
      serviceBytes: 1e12,
    });
  }

  async start(): Promise<void> {
    const { time, history, receivers } = this.#around;
    history.add(this.name, 'starts');
    await this.do(async () => {
      const housekeeping = this.#housekeeping();
      const { store } = this;
      const renders = new RenderRunner(this.#jobDependencies());
      const webhooks = createWebhookRunner({
        renders: store.renders,
        deliveries: store.webhookDeliveries,
        sender: { send: async (claimed) => await receivers.send(claimed) },
        metrics: metrics.webhooks,
        logger: this.#logger,
        baseUrl: () => 'https://captions.example',
      });
      for (let isStarted = false; !isStarted; ) {
        isStarted = await housekeeping.start().then(
          () => true,
          async () => (await time.wait(1_000, false)) ?? false,
        );
      }
      renders.start();
      webhooks.start();
    });
  }

  /** Does something in this process. */
  async do<Result>(work: () => Promise<Result>): Promise<Result> {
    return await inProcess(this, work);
  }

  crashAfter(statements: number): void {
    this.#statementsLeft = statements;
  }

  cutOff(ms: number): void {
    this.#cutOffUntil = this.#around.time.now + ms;
    this.#around.history.add(this.name, `cannot reach the database for ${ms} ms`);
  }

  /** Like a virtual machine that is moved to another host. */
  pause(ms: number): void {
    this.pausedUntil = this.#around.time.now + ms;
    this.#around.history.add(this.name, `pauses for ${ms} ms`);
  }

  setClock(errorMs: number): void {
    if (errorMs === this.clockError) return;
    this.clockError = errorMs;
    this.hadWrongClock ||= Math.abs(errorMs) > 5_000;
    this.#around.history.add(this.name, `has a clock that is ${errorMs / 1_000} s off`);
  }

  heal(): void {
    this.#statementsLeft = Number.POSITIVE_INFINITY;
    this.#cutOffUntil = 0;
    this.pausedUntil = 0;
    this.setClock(0);
  }

  /** A directory that is never made. */
  directory(id: string): LazyDirectory {
    const path = `/simulation/${id}`;
    return { path, file: (name) => `${path}/${name}`, make: async () => undefined, remove: async () => undefined };
  }

  #faults(): Faults {
    const { random, time, chances, history } = this.#around;
    return {
      crashesHere: () => this.#crashesHere(),
      trouble: () => {
        if (chances.isHealed) return undefined;
        if (time.now < this.#cutOffUntil) return 'unavailable';
        const roll = random.whole(300);
        return roll === 0 ? 'unavailable' : roll === 1 ? 'outcome unknown' : undefined;
      },
      delay: async () => {
        if (!chances.isHealed && random.whole(4) === 0) await time.wait(random.whole(30));
      },
      onCommit: (statements, parameters) => {
        const ids = parameters.flatMap((one) => Object.values(one)).filter((value) => typeof value === 'string');
        history.add(this.name, `commits: ${statements.join(', ')}`, ['', ...ids]);
      },
    };
  }

  #crashesHere(): boolean {
    if (this.isDead) return true;
    this.#statementsLeft -= 1;
    if (this.#statementsLeft > 0) return false;
    this.crash();
    return true;
  }

  crash(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.#around.history.add(this.name, 'crashes');
    this.#around.onCrash(this);
  }

  async #useStorage(): Promise<void> {
    const { random, time, chances } = this.#around;
    await time.wait(random.whole(50));
    if (this.#crashesHere()) await new Promise(() => undefined);
    if (!chances.isHealed && random.whole(40) === 0) throw unavailable(new Error('simulated'));
  }

  #jobDependencies(): RenderRunnerDependencies {
    const { store } = this;
    const { renderer, receivers } = this.#around;
    const disk = { grow: () => undefined, addResult: () => undefined, release: () => undefined };
    return {
      renders: store.renders,
      accounts: store.accounts,
      plans: DEFAULT_PLANS,
      reservations: this.reservations,
      failedDecodes: new FailedDecodes(new LocalLimits()),
      storage: this.#storage,
      targets: TARGETS,
      putSender: { send: async () => await receivers.put() },
      results: this.results,
      logos: { load: async () => undefined },
      fetcher: { policy: { faultOf: () => undefined } },
      workArea: { lazyDirectory: (id: string) => this.directory(id) },
      uploads: { reserve: async () => disk },
      renderer,
      publicUrl: undefined,
      logger: this.#logger,
      metrics,
    } as unknown as RenderRunnerDependencies;
  }

  #housekeeping(): Housekeeping {
    return new Housekeeping({
      store: this.store,
      refusals: { flush: async () => undefined },
      requestLog: { takeDropped: () => 0, takeLeftOut: () => [], flush: async () => undefined },
      replayCache: { removeExpired: async () => undefined },
      logger: this.#logger,
      metrics: metrics.dependencies,
      keepRendersDays: 30,
      embedded: false,
    } as unknown as HousekeepingOptions);
  }
}

/** Log entries become lines of the history. */
function createHistoryLogger(name: string, history: History): Logger {
  const write = (line: string): void => {
    const {
      msg,
      err,
      level: _,
      time: _time,
      ...entry
    } = JSON.parse(line) as Record<string, unknown> & {
      readonly msg?: string;
      readonly err?: { readonly message?: string };
    };
    const ids = Object.values(entry)
      .flat()
      .filter((value) => typeof value === 'string');
    const facts = Object.entries(entry)
      .filter(([, value]) => typeof value === 'number' || typeof value === 'string')
      .map(([key, value]) => `${key}=${String(value).slice(0, 40)}`);
    history.add(name, [`logs "${msg ?? ''}"`, ...facts, err?.message ?? ''].join(' ').trim(), ['', ...ids]);
  };
  return pino({ level: 'info', base: null, timestamp: false }, { write });
}
