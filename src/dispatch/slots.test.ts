import { describe, expect, it } from 'vitest';
import { Slots } from './slots.ts';

const never = new AbortController().signal;

describe('slots', () => {
  it('serve in the order of arrival', async () => {
    const slots = new Slots<string>(10);
    const served: string[] = [];
    const waiting = ['a', 'b', 'c'].map((name) => slots.take(never).then((item) => served.push(`${name} ${item}`)));
    for (const item of ['1', '2', '3']) slots.put(item);
    await Promise.all(waiting);
    expect(served).toEqual(['a 1', 'b 2', 'c 3']);
  });

  it('turn away at once when the queue is full', async () => {
    const slots = new Slots<string>(1);
    void slots.take(never);
    await expect(slots.take(never)).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 2 });
  });

  it('forget a waiter who leaves, and serve the next', async () => {
    const slots = new Slots<string>(10);
    const leaver = new AbortController();
    const left = slots.take(leaver.signal);
    const stayed = slots.take(never);
    leaver.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    expect(slots.waiting).toBe(1);
    slots.put('1');
    expect(await stayed).toBe('1');
  });

  it('never hand out a dropped item', async () => {
    const slots = new Slots<string>(10);
    slots.put('dead');
    slots.put('alive');
    slots.drop('dead');
    expect(await slots.take(never)).toBe('alive');
    expect(slots.free).toBe(0);
  });

  it('reject everyone who waits when told to', async () => {
    const slots = new Slots<string>(10);
    const waiting = [slots.take(never), slots.take(never)];
    slots.rejectWaiting(new Error('closed'));
    for (const waiter of waiting) await expect(waiter).rejects.toThrow('closed');
    expect(slots.waiting).toBe(0);
  });
});
