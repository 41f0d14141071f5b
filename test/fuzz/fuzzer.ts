// A coverage-guided fuzzer. It changes inputs of the corpus at random and keeps those that take a branch for the first time, or
// far more often than any input before. The same seed and corpus give the same inputs in the same order.

import { seededRandom } from '../../scripts/seeded-random.ts';
import { must } from '../../src/shared/must.ts';
import { Mutator } from './mutate.ts';

export type Target = (input: Buffer) => void | Promise<void>;

export interface FuzzOptions {
  readonly seed: number;
  readonly corpus: readonly Buffer[];
  readonly maxBytes: number;
  /** An input that takes more processor time than this is a finding. */
  readonly maxCpuMs: number;
  /** Asked before each input. */
  readonly shouldStop: (runs: number) => boolean;
  readonly onInput: (input: Buffer) => void;
  readonly onNew: (input: Buffer) => void;
}

export interface FuzzResult {
  readonly runs: number;
  /** Inputs that were kept. */
  readonly kept: number;
  /** Branches that any input took. */
  readonly branches: number;
  readonly finding?: { readonly input: Buffer; readonly error: unknown };
}

/** Runs a slow input three times, because compiling and garbage collection count, too, the first time. */
async function cpuTimeOf(target: Target, input: Buffer, maxMs: number): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < 3 && least > maxMs; run += 1) {
    const before = process.cpuUsage();
    await target(Buffer.from(input));
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

export async function fuzz(target: Target, options: FuzzOptions): Promise<FuzzResult> {
  const random = seededRandom(options.seed);
  const coverage = new Coverage();
  const mutator = new Mutator(random, options.maxBytes, fuzzLiterals);
  const inputs: Buffer[] = [];
  let runs = 0;
  const result = (): FuzzResult => ({ runs, kept: inputs.length, branches: coverage.branches });
  const tryInput = async (input: Buffer): Promise<FuzzResult['finding']> => {
    runs += 1;
    options.onInput(input);
    // Modules may be loaded later, so the number of branches grows.
    const counters = fuzzCounters.subarray(0, fuzzBranches + 1).fill(0);
    try {
      const cpuMs = await cpuTimeOf(target, input, options.maxCpuMs);
      if (cpuMs > options.maxCpuMs) return { input, error: new Error(`took ${cpuMs} ms of processor time`) };
    } catch (error) {
      return { input, error };
    }
    // The first one is kept in any case, so that there is something to change.
    if (coverage.add(counters) || inputs.length === 0) inputs.push(input);
    return undefined;
  };
  for (const input of [Buffer.alloc(0), ...options.corpus]) {
    const finding = await tryInput(input);
    if (finding) return { ...result(), finding };
  }
  while (!options.shouldStop(runs)) {
    const [one, other] = [pick(inputs, random), pick(inputs, random)];
    const known = inputs.length;
    const finding = await tryInput(mutator.mutate(one, other));
    if (finding) return { ...result(), finding };
    if (inputs.length > known) options.onNew(must(inputs.at(-1), 'the new input'));
  }
  return result();
}

/** Half of the time, one of the newest, because what they reached was changed the least so far. */
function pick(inputs: readonly Buffer[], random: () => number): Buffer {
  const first = random() < 0.5 ? Math.floor(inputs.length * 0.8) : 0;
  return must(inputs[first + Math.floor(random() * (inputs.length - first))], 'an input');
}

class Coverage {
  /** For each branch, a bit for each magnitude of how often an input took it. */
  readonly #seen = new Uint32Array(fuzzCounters.length);

  get branches(): number {
    return this.#seen.reduce((sum, bits) => sum + (bits === 0 ? 0 : 1), 0);
  }

  /** Returns true if anything was new. */
  add(counters: Uint32Array): boolean {
    let isNew = false;
    for (let index = 0; index < counters.length; index += 1) {
      const count = counters[index] ?? 0;
      if (count === 0) continue;
      const bit = 1 << (31 - Math.clz32(count));
      const seen = this.#seen[index] ?? 0;
      if ((seen & bit) !== 0) continue;
      this.#seen[index] = seen | bit;
      isNew = true;
    }
    return isNew;
  }
}
