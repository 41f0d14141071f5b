import { describe, expect, it } from 'vitest';
import type { Presence } from '../../reports.ts';
import { WorkerRegistry } from './worker-registry.ts';

const PRESENCE: Presence = {
  worker: 'a',
  slots: { image: 4, video: 1 },
  ready: { image: 3, video: 1 },
  busy: { image: 2, video: 0 },
  isDraining: false,
  protocol: 1,
  version: '1.0.0',
};

function announce(registry: WorkerRegistry, changes: Partial<Presence>, now: number): void {
  registry.onPresence({ ...PRESENCE, ...changes }, now);
}

describe('WorkerRegistry', () => {
  it('adds up the slots of all workers', () => {
    const registry = new WorkerRegistry();
    announce(registry, {}, 0);
    announce(registry, { worker: 'b', slots: { image: 2, video: 0 }, ready: { image: 2, video: 0 } }, 0);
    announce(registry, { busy: { image: 3, video: 1 } }, 10);
    expect(registry.capacity('image', 10)).toEqual({ workers: 2, slots: 6, open: 5, busy: 5 });
    expect(registry.capacity('video', 10)).toEqual({ workers: 1, slots: 1, open: 1, busy: 1 });
  });

  it('counts no open slots of a worker that is draining', () => {
    const registry = new WorkerRegistry();
    announce(registry, { isDraining: true }, 0);
    expect(registry.capacity('image', 0)).toEqual({ workers: 1, slots: 4, open: 0, busy: 2 });
  });

  it('does not count a worker that has missed three announcements', () => {
    const registry = new WorkerRegistry();
    announce(registry, {}, 0);
    expect(registry.capacity('image', 3_000).workers).toBe(1);
    expect(registry.capacity('image', 4_000).workers).toBe(0);
  });

  it('tells a silent worker from one that has never announced itself', () => {
    const registry = new WorkerRegistry();
    announce(registry, {}, 0);
    expect(registry.isSilent('a', 4_500)).toBe(false);
    expect(registry.isSilent('a', 4_501)).toBe(true);
    expect(registry.isSilent('b', 4_501)).toBe(false);
    expect(registry.capacity('image', 4_501).workers).toBe(0);
    expect(registry.isSilent('a', 6_000)).toBe(true);
    announce(registry, {}, 6_001);
    expect(registry.isSilent('a', 6_002)).toBe(false);
  });

  it('forgets a worker after ten minutes', () => {
    const registry = new WorkerRegistry();
    announce(registry, {}, 0);
    registry.capacity('image', 600_001);
    expect(registry.isSilent('a', 600_001)).toBe(false);
  });

  it('keeps the workers it knows when made-up names flood it', () => {
    const registry = new WorkerRegistry();
    announce(registry, {}, 0);
    for (let index = 0; index < 20_000; index += 1) announce(registry, { worker: `made-up-${index}` }, 1);
    announce(registry, { busy: { image: 0, video: 0 } }, 2);
    expect(registry.capacity('image', 2).workers).toBe(10_000);
    expect(registry.isSilent('a', 9_000)).toBe(true);
  });
});
