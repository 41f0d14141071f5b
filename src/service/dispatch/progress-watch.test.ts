import { describe, expect, it } from 'vitest';
import { isHung, type Reading } from './progress-watch.ts';

const START: Reading = { at: 50_000, busyMs: 2_000, idleMs: 1e9, processors: 4 };

/** Returns the reading after these seconds. `idle` is the part of the machine that was idle meanwhile. */
function after(seconds: number, { busySeconds, idle }: { busySeconds: number | undefined; idle: number }): Reading {
  return {
    at: START.at + seconds * 1_000,
    busyMs: busySeconds === undefined ? undefined : 2_000 + busySeconds * 1_000,
    idleMs: START.idleMs + seconds * 1_000 * START.processors * idle,
    processors: START.processors,
  };
}

describe('a worker without progress', () => {
  it.each([
    ['30 s of its own processor time, on an idle machine', after(31, { busySeconds: 30, idle: 0.9 })],
    ['30 s of its own processor time, on a busy machine', after(900, { busySeconds: 30, idle: 0 })],
    ['30 s of processor time of several threads', after(8, { busySeconds: 31, idle: 0 })],
    ['5 minutes, on an idle machine', after(300, { busySeconds: 0, idle: 0.95 })],
    ['5 minutes, on a machine with some idle time', after(301, { busySeconds: 3, idle: 0.2 })],
    ['5 minutes, where processor time is unknown', after(300, { busySeconds: undefined, idle: 0.5 })],
  ])('a worker without progress counts as hung after %s', (_when, now) => {
    expect(isHung(START, now)).toBe(true);
  });

  it.each([
    ['29 s of its own processor time', after(29, { busySeconds: 29, idle: 0.9 })],
    ['an hour on a machine that is too busy to run it', after(3_600, { busySeconds: 25, idle: 0.01 })],
    ['4 minutes on an idle machine', after(240, { busySeconds: 0, idle: 1 })],
    ['an hour on a busy machine, where processor time is unknown', after(3_600, { busySeconds: undefined, idle: 0 })],
    ['the first moment', START],
  ])('a worker without progress does not count as hung after %s', (_when, now) => {
    expect(isHung(START, now)).toBe(false);
  });

  it('a worker does not count as hung when the processor time of its ended children is missing', () => {
    expect(isHung(START, { ...after(100, { busySeconds: 0, idle: 0 }), busyMs: 10 })).toBe(false);
  });
});
