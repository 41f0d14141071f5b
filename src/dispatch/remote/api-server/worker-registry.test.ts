import { describe, expect, it } from 'vitest';
import type { Presence } from '../shared/wire.ts';
import { WorkerRegistry } from './worker-registry.ts';

const presence: Presence = {
  worker: 'a',
  slots: { image: 4, video: 1 },
  ready: { image: 3, video: 1 },
  busy: { image: 2, video: 0 },
  isDraining: false,
};

function hear(roll: WorkerRegistry, change: object, now: number): void {
  roll.onPresence(new TextEncoder().encode(JSON.stringify({ ...presence, ...change })), now);
}

describe('the roll of workers', () => {
  it('adds up who is there', () => {
    const roll = new WorkerRegistry();
    hear(roll, {}, 0);
    hear(roll, { worker: 'b', slots: { image: 2, video: 0 }, ready: { image: 2, video: 0 } }, 0);
    hear(roll, { busy: { image: 3, video: 1 } }, 10);
    expect(roll.capacity('image', 10)).toEqual({ workers: 2, slots: 6, open: 5, busy: 5 });
    expect(roll.capacity('video', 10)).toEqual({ workers: 1, slots: 1, open: 1, busy: 1 });
  });

  it('counts no slots of a worker that is leaving', () => {
    const roll = new WorkerRegistry();
    hear(roll, { isDraining: true }, 0);
    expect(roll.capacity('image', 0)).toEqual({ workers: 1, slots: 4, open: 0, busy: 2 });
  });

  it('knows how many machines have nothing to do', () => {
    const roll = new WorkerRegistry();
    hear(roll, {}, 0);
    hear(roll, { worker: 'b', busy: { image: 3, video: 1 } }, 0);
    hear(roll, { worker: 'c', isDraining: true }, 0);
    expect([roll.idle('image', 0), roll.idle('video', 0), roll.idle('video', 9_000)]).toEqual([1, 1, 0]);
  });

  it('forgets who was not heard for a while', () => {
    const roll = new WorkerRegistry();
    hear(roll, {}, 0);
    expect(roll.capacity('image', 3_000).workers).toBe(1);
    expect(roll.capacity('image', 4_000).workers).toBe(0);
  });

  it('tells who has fallen silent from who was never heard', () => {
    const roll = new WorkerRegistry();
    hear(roll, {}, 0);
    expect([roll.isSilent('a', 4_500), roll.isSilent('a', 4_501), roll.isSilent('b', 4_501)]).toEqual([
      false,
      true,
      false,
    ]);
    expect(roll.capacity('image', 4_501).workers).toBe(0);
    expect(roll.isSilent('a', 6_000)).toBe(true);
    hear(roll, {}, 6_001);
    expect(roll.isSilent('a', 6_002)).toBe(false);
  });

  it('ignores what makes no sense', () => {
    const roll = new WorkerRegistry();
    for (const change of [
      { worker: 1 },
      { slots: null },
      { busy: { image: -1, video: 0 } },
      { ready: { image: 1e9 } },
    ]) {
      hear(roll, change, 0);
    }
    roll.onPresence(new Uint8Array([1, 2, 3]), 0);
    expect(roll.capacity('image', 0).workers).toBe(0);
  });
});
