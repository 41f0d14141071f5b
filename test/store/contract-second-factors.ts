import { expect, it } from 'vitest';
import type { World } from './world.ts';

export function secondFactorsContract(world: () => World): void {
  const userWithApp = async (): Promise<{ id: string; accountId: string }> => {
    const user = await world().store.users.signUp('ann@example.com', 'hash');
    if (user === undefined) throw new Error('the address is taken');
    const added = await world().store.secondFactors.add({
      userId: user.id,
      secret: 'SECRET',
      step: 100,
      recoveryHashes: ['one', 'two'],
    });
    expect(added).toBe(true);
    return user;
  };

  it('second factors are added once, with recovery codes', async () => {
    const { secondFactors } = world().store;
    const { id, accountId } = await userWithApp();
    expect(await secondFactors.find(id)).toEqual({ secret: 'SECRET', createdAt: world().clock(), recoveryCodes: 2 });
    expect(await secondFactors.find('unknown')).toBeUndefined();
    expect(await secondFactors.add({ userId: id, secret: 'OTHER', step: 1, recoveryHashes: ['x'] })).toBe(false);
    expect(await secondFactors.find(id)).toMatchObject({ secret: 'SECRET', recoveryCodes: 2 });
    expect((await world().actions(accountId)).at(-1)).toBe(`user:${id} user.two_factor_on`);
  });

  it('second factors accept every time step once, in order, also when several servers get the same code', async () => {
    const { secondFactors } = world().store;
    const { id } = await userWithApp();
    for (const step of [99, 100]) expect(await secondFactors.useStep(id, step)).toBe(false);
    const servers = await Promise.all(['x', 'y', 'z'].map(async (name) => await world().server(`there/${name}`)));
    const used = await Promise.all(servers.map(async (each) => await each.secondFactors.useStep(id, 102)));
    expect(used.filter(Boolean)).toHaveLength(1);
    expect(await secondFactors.useStep(id, 101)).toBe(false);
    expect(await secondFactors.useStep(id, 103)).toBe(true);
    expect(await secondFactors.useStep('unknown', 104)).toBe(false);
  });

  it('second factors accept every recovery code once, until all of them are replaced', async () => {
    const { secondFactors } = world().store;
    const { id } = await userWithApp();
    const servers = await Promise.all(['x', 'y', 'z'].map(async (name) => await world().server(`there/${name}`)));
    const used = await Promise.all(servers.map(async (each) => await each.secondFactors.useRecoveryCode(id, 'one')));
    expect(used.filter(Boolean)).toHaveLength(1);
    expect(await secondFactors.useRecoveryCode('unknown', 'two')).toBe(false);
    expect(await secondFactors.replaceRecoveryCodes(id, ['three', 'four', 'five'])).toBe(true);
    expect(await secondFactors.find(id)).toMatchObject({ recoveryCodes: 3 });
    expect(await secondFactors.useRecoveryCode(id, 'two')).toBe(false);
    expect(await secondFactors.useRecoveryCode(id, 'four')).toBe(true);
    expect(await secondFactors.replaceRecoveryCodes('unknown', ['x'])).toBe(false);
  });

  it('second factors are removed with their recovery codes', async () => {
    const { secondFactors } = world().store;
    const { id, accountId } = await userWithApp();
    expect(await secondFactors.remove(id, 'cli:test')).toBe(true);
    expect(await secondFactors.remove(id, 'cli:test')).toBe(false);
    expect(await secondFactors.find(id)).toBeUndefined();
    expect(await secondFactors.useRecoveryCode(id, 'one')).toBe(false);
    expect((await world().actions(accountId)).at(-1)).toBe('cli:test user.two_factor_off');
  });
}
