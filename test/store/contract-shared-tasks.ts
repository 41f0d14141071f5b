import { expect, it } from 'vitest';
import { HOUR, type World } from './world.ts';

const NAME = 'trim';
const SECOND = 1_000;

async function leaseOf({ engine }: World): Promise<unknown> {
  const [row] = await engine.all('select leased_until from shared_tasks where name = :name', { name: NAME });
  return row?.['leased_until'] ?? null;
}

export function sharedTasksContract(world: () => World): void {
  it('are run by one of several servers per interval, with the time of the last run', async () => {
    const servers = await Promise.all(['x', 'y', 'z'].map(async (name) => await world().server(`there/${name}`)));
    const runs: (Date | undefined)[] = [];
    const all = async (): Promise<boolean[]> =>
      await Promise.all(
        servers.map(async ({ sharedTasks }) => {
          return await sharedTasks.run(NAME, HOUR, async (since) => void runs.push(since));
        }),
      );
    expect((await all()).filter(Boolean)).toHaveLength(1);
    expect(runs).toEqual([undefined]);
    const first = world().clock();
    world().pass(HOUR / 2);
    expect((await all()).filter(Boolean)).toHaveLength(0);
    world().pass(HOUR / 2);
    expect((await all()).filter(Boolean)).toHaveLength(1);
    expect(runs).toEqual([undefined, first]);
    // The clock was ahead, so the time of the last run says nothing.
    world().pass(-24 * HOUR);
    expect((await all()).filter(Boolean)).toHaveLength(1);
    expect(runs[2]).toBeUndefined();
  });

  it('are run by one of two servers that start them together, although the clock of the second one is a little behind', async () => {
    const [one, other] = [await world().server('there/1'), await world().server('there/2')];
    let end = (): void => undefined;
    const running = one.sharedTasks.run(NAME, HOUR, async () => await new Promise<void>((resolve) => (end = resolve)));
    await expect.poll(async () => await leaseOf(world())).not.toBeNull();
    world().pass(-SECOND);
    expect(await other.sharedTasks.run(NAME, HOUR, async () => undefined)).toBe(false);
    end();
    await running;
    expect(await other.sharedTasks.run(NAME, HOUR, async () => undefined)).toBe(false);
  });

  it('can be run by another server after a failure, and after the lease of a dead server', async () => {
    const [one, other] = [await world().server('there/1'), await world().server('there/2')];
    const fail = async (): Promise<void> => {
      throw new Error('statement timeout');
    };
    await expect(one.sharedTasks.run(NAME, HOUR, fail)).rejects.toThrow('statement timeout');
    expect(await other.sharedTasks.run(NAME, HOUR, async () => undefined)).toBe(true);
    world().pass(HOUR);
    let end = (): void => undefined;
    const stuck = one.sharedTasks.run(NAME, HOUR, async () => await new Promise<void>((resolve) => (end = resolve)));
    await expect.poll(async () => await other.sharedTasks.run(NAME, HOUR, async () => undefined)).toBe(false);
    world().pass(HOUR);
    expect(await other.sharedTasks.run(NAME, HOUR, async () => undefined)).toBe(true);
    end();
    await stuck;
  });
}
