import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BoundedMap } from './bounded-map.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import { must } from './must.ts';
import { Semaphore, SemaphoreFull } from './semaphore.ts';

/** Returns a task that ends when told to. */
function gate(): { readonly task: () => Promise<void>; readonly open: () => void; started: boolean } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const state = {
    started: false,
    open: () => open(),
    task: async (): Promise<void> => {
      state.started = true;
      await opened;
    },
  };
  return state;
}

describe('BoundedMap', () => {
  it('evicts the least recently used entry when it is full', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    expect(map.get('a')).toBe(1);
    map.set('c', 3);
    expect(map.get('b')).toBeUndefined();
    expect(map.get('a')).toBe(1);
    expect(map.size).toBe(2);
  });

  it('replaces the value of a known key without evicting another', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    expect([map.get('a'), map.get('b'), map.size]).toEqual([3, 2, 2]);
  });

  it('evicts in order of use after deletions at both ends and in the middle', () => {
    const map = new BoundedMap<number, number>(5);
    for (const key of [1, 2, 3, 4, 5]) map.set(key, key);
    expect([map.delete(1), map.delete(3), map.delete(5), map.delete(9)]).toEqual([true, true, true, false]);
    for (const key of [6, 7, 8]) map.set(key, key);
    map.get(2);
    for (const key of [9, 10]) map.set(key, key);
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].filter((key) => map.get(key) !== undefined)).toEqual([2, 7, 8, 9, 10]);
    for (const key of [2, 7, 8, 9, 10]) map.delete(key);
    map.set(11, 11);
    expect([map.size, map.get(11)]).toEqual([1, 11]);
  });
});

describe('Semaphore', () => {
  it('runs as many tasks at once as it has permits, the others in order', async () => {
    const semaphore = new Semaphore({ permits: 1 });
    const [first, second, third] = [gate(), gate(), gate()];
    const runs = [first, second, third].map((each) => semaphore.run(each.task));
    await setImmediate();
    expect([first.started, second.started, third.started]).toEqual([true, false, false]);
    first.open();
    await runs[0];
    await setImmediate();
    expect([second.started, third.started]).toEqual([true, false]);
    second.open();
    third.open();
    await Promise.all(runs);
  });

  it('reads the number of permits each time when it is given as a function', async () => {
    let permits = 1;
    const semaphore = new Semaphore({ permits: () => permits });
    const tasks = [gate(), gate(), gate(), gate()];
    const runs = tasks.map((each) => semaphore.run(each.task));
    const started = (): boolean[] => tasks.map((each) => each.started);
    await setImmediate();
    expect(started()).toEqual([true, false, false, false]);
    permits = 2;
    tasks[0]?.open();
    await setImmediate();
    expect(started()).toEqual([true, true, true, false]);
    permits = 1;
    tasks[1]?.open();
    await setImmediate();
    expect(started()).toEqual([true, true, true, false]);
    tasks[2]?.open();
    tasks[3]?.open();
    await Promise.all(runs);
  });

  it('rejects a task when too many are waiting', async () => {
    const semaphore = new Semaphore({ permits: 1, maxWaiting: 0 });
    const running = gate();
    const run = semaphore.run(running.task);
    await expect(semaphore.run(async () => undefined)).rejects.toThrow(SemaphoreFull);
    running.open();
    await run;
    await expect(semaphore.run(async () => 'free again')).resolves.toBe('free again');
  });

  it('removes a waiting task whose signal aborts, and frees the permit of a task that fails', async () => {
    const semaphore = new Semaphore({ permits: 1 });
    const running = gate();
    const run = semaphore.run(running.task);
    const controller = new AbortController();
    const waiting = semaphore.run(async () => 'never', controller.signal);
    controller.abort(new Error('client gone'));
    await expect(waiting).rejects.toThrow('client gone');
    expect(semaphore.waiting).toBe(0);
    running.open();
    await run;
    const failing = async (): Promise<void> => {
      throw new Error('failed');
    };
    await expect(semaphore.run(failing)).rejects.toThrow('failed');
    await expect(semaphore.run(async () => 'free')).resolves.toBe('free');
  });
});

describe('KeyedMutex', () => {
  it('runs tasks with one key in order, also after a failure, and other keys at once', async () => {
    const mutex = new KeyedMutex();
    const [first, other] = [gate(), gate()];
    const failing = mutex.run('a', async () => {
      await first.task();
      throw new Error('failed');
    });
    let hasRun = false;
    const next = mutex.run('a', async () => {
      hasRun = true;
    });
    const parallel = mutex.run('b', other.task);
    await setImmediate();
    expect([first.started, hasRun, other.started]).toEqual([true, false, true]);
    first.open();
    other.open();
    await expect(failing).rejects.toThrow('failed');
    await Promise.all([next, parallel]);
    expect(hasRun).toBe(true);
  });
});

describe('must', () => {
  it('returns a value that is there, also a falsy one, and throws for a missing one', () => {
    expect(must(0, 'count')).toBe(0);
    expect(() => must(undefined, 'the session')).toThrow('the session is missing');
  });
});
