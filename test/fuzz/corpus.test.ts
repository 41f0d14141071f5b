// Every input of the corpus, among them all that once caused a finding, and the fuzzer itself.

import { describe, expect, it } from 'vitest';
import { corpusOf } from './corpus.ts';
import { instrument } from './instrument-hook.js';
import { fuzz, type FuzzResult } from './fuzzer.ts';
import { loadTarget, TARGETS } from './targets.ts';

describe.each(TARGETS)('the target %s', (name) => {
  it.each(corpusOf(name).map((file) => [file.name, file.bytes] as const))('has no finding for %s', async (_, bytes) => {
    const target = await loadTarget(name);
    await expect(Promise.resolve(bytes).then(target)).resolves.toBeUndefined();
  });

  it('has a corpus', () => {
    expect(corpusOf(name).length).toBeGreaterThan(0);
  });
});

describe('the fuzzer', () => {
  /** Throws for inputs that start with "heif", which random bytes practically never do. */
  const SOURCE = `
    if (input[0] === 'h'.charCodeAt(0)) {
      if (input[1] === 'e'.charCodeAt(0)) {
        if (input.toString('latin1', 0, 4) === 'heif') throw new Error('found');
      }
    }`;

  async function fuzzed(seed: number, source = SOURCE, maxCpuMs = 5_000): Promise<FuzzResult> {
    globalThis.fuzzCounters = new Uint32Array(256);
    globalThis.fuzzLiterals = [];
    globalThis.fuzzBranches = 255;
    // The fuzzer instruments source text, so the test has to run source text.
    // oxlint-disable-next-line typescript/no-implied-eval
    const target = new Function('input', instrument(source)) as (input: Buffer) => void;
    target(Buffer.alloc(0));
    return await fuzz(target, {
      seed,
      corpus: [],
      maxBytes: 16,
      maxCpuMs,
      shouldStop: (runs) => runs > 20_000,
      onInput: () => undefined,
      onNew: () => undefined,
    });
  }

  it('finds an input behind several branches', async () => {
    const { finding } = await fuzzed(1);
    expect(finding?.input.toString('latin1', 0, 4)).toBe('heif');
  });

  it('finds an input that takes too much processor time', async () => {
    const slow = `
      if (input[0] === 'h'.charCodeAt(0)) {
        const ends = process.cpuUsage().user + 60_000;
        while (process.cpuUsage().user < ends);
      }`;
    const { finding } = await fuzzed(1, slow, 30);
    expect(finding?.input.toString('latin1', 0, 1)).toBe('h');
    expect(String(finding?.error)).toMatch(/took \d+.* ms of processor time/u);
  });

  it('tries the same inputs with the same seed', async () => {
    const [one, same, other] = [await fuzzed(7), await fuzzed(7), await fuzzed(8)];
    expect(same).toEqual(one);
    expect(other.runs).not.toBe(one.runs);
  });
});
