// What a scenario gets: a seed, a profile, servers to prove things on, and a place for its figures.

import { Random } from '../../test/store/random.ts';
import type { Call } from './client.ts';
import { ask } from './client.ts';
import { type Figures, percent } from './figures.ts';
import { type Allowed, findFaults } from './invariants.ts';
import { type Answer, Journal } from './journal.ts';
import { Subject, type SubjectOptions } from './subject.ts';

export interface Profile {
  readonly long: boolean;
  readonly seed: number;
  readonly soakMinutes: number;
}

export interface Scenario {
  readonly name: string;
  readonly about: string;
  /** Asks little of the machine and measures no speed, so that several can be played at once. */
  readonly light?: true;
  readonly run: (world: World) => Promise<void>;
}

/** A server and everything its clients saw. */
export interface Stage {
  readonly subject: Subject;
  readonly journal: Journal;
  readonly ask: (call: Call) => Promise<Answer>;
}

interface Target {
  readonly target: string;
  readonly met: boolean;
  readonly always?: true;
}

export class World {
  readonly profile: Profile;
  readonly random: Random;
  readonly #scenario: string;
  readonly #figures: Figures;

  constructor(scenario: string, profile: Profile, figures: Figures) {
    this.#scenario = scenario;
    this.profile = profile;
    this.random = new Random(profile.seed);
    this.#figures = figures;
  }

  /** The one of the profile. */
  choose<Value>(short: Value, long: Value): Value {
    return this.profile.long ? long : short;
  }

  figure(name: string, value: string, judged?: Target): void {
    this.#figures.add({ scenario: this.#scenario, name, value, ...judged });
  }

  atLeast(name: string, part: number, least: number): void {
    this.figure(name, percent(part), { target: `>= ${percent(least)}`, met: part >= least });
  }

  /** Something that must not happen at all. */
  none(name: string, count: number): void {
    this.figure(name, String(count), { target: '0', met: count === 0, always: true });
  }

  fault(text: string): void {
    this.#figures.fault(this.#scenario, text);
  }

  skip(reason: string): void {
    this.#figures.skip(this.#scenario, reason);
  }

  /** Starts a server, plays, checks what must be true after it, and ends it. */
  async on(options: SubjectOptions, play: (stage: Stage) => Promise<Allowed | void>): Promise<void> {
    const subject = await Subject.start(options);
    try {
      const journal = new Journal(subject.canaries.secrets);
      const allowed = await play({ subject, journal, ask: async (call) => await ask(subject.target, journal, call) });
      const faults = await findFaults(subject, journal, allowed ?? {});
      for (const fault of faults) this.fault(fault);
    } finally {
      const { code } = await subject.stop();
      if (code !== 0) this.fault(`the server ended with ${code} when asked to stop`);
    }
  }
}
