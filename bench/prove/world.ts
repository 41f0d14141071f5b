// The context of a scenario: a seed, a profile, servers to start, and a place for its figures.

import { Random } from '../../test/store/random.ts';
import { type OutgoingRequest, sendRequest } from './client.ts';
import { type Figures, percent } from './figures.ts';
import { findViolations, type Tolerance } from './invariants.ts';
import { Journal, type ResponseRecord } from './journal.ts';
import { Subject, type SubjectOptions } from './subject.ts';

export interface Profile {
  readonly long: boolean;
  readonly seed: number;
  readonly soakMinutes: number;
}

export interface Scenario {
  readonly name: string;
  readonly about: string;
  /** True if the scenario uses little CPU and measures no speed, so it can run next to others. */
  readonly parallel?: true;
  readonly run: (world: World) => Promise<void>;
}

/** A running server and everything its clients received. */
export interface Fixture {
  readonly subject: Subject;
  readonly journal: Journal;
  readonly request: (request: OutgoingRequest) => Promise<ResponseRecord>;
}

interface Target {
  readonly target: string;
  readonly met: boolean;
  readonly isInvariant?: true;
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

  /** Picks the value for the profile of this run. */
  choose<Value>(short: Value, long: Value): Value {
    return this.profile.long ? long : short;
  }

  figure(name: string, value: string, target?: Target): void {
    this.#figures.add({ scenario: this.#scenario, name, value, ...target });
  }

  atLeast(name: string, share: number, min: number): void {
    this.figure(name, percent(share), { target: `>= ${percent(min)}`, met: share >= min });
  }

  /** Records a count that must be 0 on every machine. */
  none(name: string, count: number): void {
    this.figure(name, String(count), { target: '0', met: count === 0, isInvariant: true });
  }

  violation(text: string): void {
    this.#figures.violation(this.#scenario, text);
  }

  skip(reason: string): void {
    this.#figures.skip(this.#scenario, reason);
  }

  /** Starts a server, runs the scenario on it, checks the invariants and stops the server. */
  async withServer(options: SubjectOptions, run: (fixture: Fixture) => Promise<Tolerance | void>): Promise<void> {
    const subject = await Subject.start(options);
    try {
      const journal = new Journal(subject.canaries.secrets);
      const request = async (outgoing: OutgoingRequest): Promise<ResponseRecord> =>
        await sendRequest(subject.target, journal, outgoing);
      const tolerance = await run({ subject, journal, request });
      const violations = await findViolations(subject, journal, tolerance ?? {});
      for (const violation of violations) this.violation(violation);
    } finally {
      const { code } = await subject.stop();
      if (code !== 0) this.violation(`the server exited with ${code} when asked to stop`);
    }
  }
}
