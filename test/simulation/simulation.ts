// One simulation: several API servers, clients and receivers on one database, with crashes, lost messages, clocks that jump and a
// database that can't be reached. The same seed gives the same run.

import { must } from '../../src/shared/must.ts';
import { SqliteEngine } from '../../src/service/store/sqlite-engine.ts';
import { createStore } from '../../src/service/store/store.ts';
import { Random } from '../store/random.ts';
import { callerOf, Clients } from './clients.ts';
import type { DriverFaults } from './driver-faults.ts';
import { History } from './history.ts';
import { type Violation, violations } from './invariants.ts';
import { SimulatedReceivers, SimulatedRenderer, SimulatedStorage } from './simulated-services.ts';
import { SimulatedServer, type Surroundings } from './simulated-server.ts';
import { outsideProcesses, SimulatedTime } from './simulated-time.ts';

export interface SimulationResult {
  readonly crashes: number;
  readonly renders: number;
  readonly simulatedSeconds: number;
  readonly violations: readonly Violation[];
  /** Lines about the first violation. */
  readonly history: string;
  /** The same for every run of the same seed. */
  readonly digest: string;
}

const START = new Date('2026-01-15T10:00:00.000Z');
const SERVERS = 3;
const ACCOUNTS = ['ann', 'bob', 'eve', 'zoe'];
/** How long there are faults, in steps of about a second. */
const STEPS = 60;
const CALM_STEPS = 4;
const CALM_MS = 15_000;
/** Long enough for a long render, and for leases to run out. */
const HEALING_MS = 100_000;
/**
 * Until the second retry of a webhook, until the end of a lease that a clock an hour ahead gave, and until the fourth retry that such a
 * clock scheduled.
 */
const SUSPENSIONS_MS = [310_000, 310_000, 3_700_000, 11_000_000];
const CLOCK_ERRORS = [0, 0, -2_000, 2_000, -3_600_000, -20_000, 20_000, 45_000, 3_600_000];

export async function simulate(seed: number): Promise<SimulationResult> {
  const simulation = new Simulation(seed);
  const uninstall = simulation.time.install();
  try {
    return await simulation.run();
  } finally {
    uninstall();
  }
}

/** One server on which nothing goes wrong but one call to the driver of the database. Nothing may be lost then. */
export async function simulateCalm(faults: DriverFaults): Promise<SimulationResult> {
  const simulation = new Simulation(1);
  const uninstall = simulation.time.install();
  try {
    return await simulation.runCalmly(faults);
  } finally {
    uninstall();
  }
}

class Simulation {
  readonly time: SimulatedTime;
  readonly #random: Random;
  readonly #engine = new SqliteEngine(':memory:', { synchronous: 'off' });
  readonly #history: History;
  readonly #chances = { isHealed: false };
  readonly #around: Surroundings;
  readonly #servers: SimulatedServer[] = [];
  readonly #unreliable = new Set<SimulatedServer>();
  #hadWrongClock = false;
  #started = 0;
  #crashes = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.time = new SimulatedTime(START, this.#random);
    this.#history = new History(() => this.time.now);
    this.#around = {
      engine: this.#engine,
      time: this.time,
      random: this.#random,
      chances: this.#chances,
      history: this.#history,
      storage: new SimulatedStorage(),
      receivers: new SimulatedReceivers(this.time, this.#random, this.#chances),
      renderer: new SimulatedRenderer(this.time, this.#random, this.#chances),
      onCrash: (server) => this.#onCrash(server),
    };
  }

  async run(): Promise<SimulationResult> {
    const clients = await this.#createClients();
    for (let count = 0; count < SERVERS; count += 1) this.#startServer();
    for (let step = 0; step < STEPS; step += 1) {
      for (let requests = this.#random.whole(4); requests > 0; requests -= 1) clients.act();
      this.#disturb();
      this.#disturb();
      await this.time.pass(500 + this.#random.whole(1_000));
    }
    await this.#heal(clients);
    return await this.#end(clients);
  }

  async runCalmly(faults: DriverFaults): Promise<SimulationResult> {
    this.#chances.isHealed = true;
    const clients = await this.#createClients();
    const restore = faults.install();
    try {
      this.#startServer();
      for (let step = 0; step < CALM_STEPS; step += 1) {
        clients.act();
        await this.time.pass(1_000);
      }
      await this.time.pass(CALM_MS);
      if (!(await this.#isQuiet(clients))) await this.#heal(clients);
    } finally {
      restore();
    }
    return await this.#end(clients);
  }

  async #end(clients: Clients): Promise<SimulationResult> {
    const { receivers, storage } = this.#around;
    const found = await violations({
      engine: this.#engine,
      clients,
      receivers,
      storage,
      mayUndercharge: (id) => this.#mayUndercharge(clients, id),
    });
    await this.#engine.close();
    const renders = clients.accepted.size + clients.waiting.size;
    const simulatedSeconds = (this.time.now - START.getTime()) / 1_000;
    const { digest } = this.#history;
    return {
      digest,
      crashes: this.#crashes,
      renders,
      simulatedSeconds,
      violations: found,
      history: this.#about(found[0]),
    };
  }

  async #createClients(): Promise<Clients> {
    const store = createStore(this.#engine, () => this.time.clock(), 'there/setup/x');
    const callers = [];
    for (const id of ACCOUNTS) {
      await store.accounts.create({ id, name: id }, 'simulation');
      await store.accounts.subscribe(id, 'free', 'now', 'simulation');
      await store.webhookEndpoints.create(
        { id: `endpoint-${id}`, accountId: id, url: `https://${id}.example/`, events: [] },
        20,
        'simulation',
      );
      callers.push(callerOf(id, must((await store.accounts.find(id))?.subscription, 'the subscription')));
    }
    return new Clients({ ...this.#around, anyServer: () => this.#anyServer() }, callers);
  }

  #anyServer(): SimulatedServer | undefined {
    const alive = this.#servers.filter(({ isDead }) => !isDead);
    return alive.length === 0 ? undefined : this.#random.pick(alive);
  }

  #startServer(): void {
    this.#started += 1;
    const server = new SimulatedServer(`server-${this.#started}`, this.#around);
    this.#servers.push(server);
    void server.start();
  }

  /** Another one starts after a while. */
  #onCrash(server: SimulatedServer): void {
    this.#crashes += 1;
    this.#unreliable.add(server);
    this.#servers.splice(this.#servers.indexOf(server), 1);
    void outsideProcesses(async () => await this.#startLater());
  }

  async #startLater(): Promise<void> {
    await this.time.wait(this.#random.whole(3_000));
    this.#startServer();
  }

  #disturb(): void {
    const server = this.#anyServer();
    if (server === undefined) return;
    const roll = this.#random.whole(10);
    if (roll < 5) server.crashAfter(1 + this.#random.whole(40));
    else if (roll === 5) server.cutOff(this.#random.whole(20_000));
    else if (roll === 6) server.setClock(this.#random.pick(CLOCK_ERRORS));
    else if (roll === 7) this.#pause(server);
    if (server.hadWrongClock) this.#hadWrongClock = true;
  }

  /** Others take over what a server has that pauses for longer than its lease. */
  #pause(server: SimulatedServer): void {
    server.pause(this.#random.whole(60_000));
    this.#unreliable.add(server);
  }

  async #heal(clients: Clients): Promise<void> {
    this.#history.add('simulation', 'ends all faults');
    this.#chances.isHealed = true;
    for (const server of this.#servers) server.heal();
    await this.time.pass(HEALING_MS);
    for (const ms of SUSPENSIONS_MS) {
      if (await this.#isQuiet(clients)) return;
      // Servers poll twice a second, so waiting for hours would take long.
      this.#history.add('simulation', `suspends all servers for ${ms / 1_000} s`);
      this.time.now += ms;
      await this.time.pass(HEALING_MS / 2);
    }
  }

  async #isQuiet(clients: Clients): Promise<boolean> {
    const counts = await this.#engine.all(
      `select (select count(*) from renders where status in ('queued', 'rendering'))
         + (select count(*) from holds where state = 'reserved')
         + (select count(*) from render_events where handled_at is null)
         + (select count(*) from webhook_deliveries where status = 'pending') as n`,
    );
    return clients.unanswered === 0 && counts[0]?.['n'] === 0;
  }

  /** A crash between the last byte and the charge, or a wrong clock, costs the service a charge and never the customer. */
  #mayUndercharge(clients: Clients, renderId: string): boolean {
    const render = clients.waiting.get(renderId);
    return this.#hadWrongClock || (render !== undefined && this.#unreliable.has(render.server));
  }

  #about(violation: Violation | undefined): string {
    return violation === undefined ? '' : this.#history.about(violation.ids);
  }
}
