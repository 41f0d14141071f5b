import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import { KEY_BYTES, SecretBox } from '../../src/service/store/secret-box.ts';
import { countSecretsByKey, missingKeys, reencryptSecrets } from '../../src/service/store/secrets.ts';
import { createStore } from '../../src/service/store/store.ts';
import { webhookSetup } from './webhook-setup.ts';
import type { World } from './world.ts';

const ACTOR = 'cli:test';
const [one, two] = [randomBytes(KEY_BYTES), randomBytes(KEY_BYTES)];
const [plain, first, rotated] = [new SecretBox(), new SecretBox([one]), new SecretBox([two, one])];

export function secretsContract(world: () => World): void {
  const { message } = webhookSetup(world);
  const storeWith = (box: SecretBox) => createStore(world().engine, world().clock, 'here/1/a', box);
  const stored = async (): Promise<string> =>
    JSON.stringify(await world().engine.all('select secret from webhook_secrets'));

  it('of webhooks are encrypted, sign webhooks, and can be encrypted again while servers run', async () => {
    const account = await world().account();
    const endpoint = { id: 'e1', accountId: account, url: 'https://a.example/', events: [] };
    const secret = must(await storeWith(plain).webhookEndpoints.create(endpoint, 20, ACTOR), 'the secret');
    const other = must(
      await storeWith(first).webhookEndpoints.create({ ...endpoint, id: 'e2' }, 20, ACTOR),
      'the secret',
    );
    expect(await stored()).toContain(secret);
    expect(await stored()).not.toContain(other);
    const { webhookEndpoints, webhookDeliveries } = storeWith(rotated);
    expect(await webhookEndpoints.secrets(account, 'e1')).toMatchObject([{ secret }]);
    expect(await webhookEndpoints.secrets(account, 'e2')).toMatchObject([{ secret: other }]);
    expect([...(await countSecretsByKey(world().engine)).values()]).toEqual(expect.arrayContaining([1, 1]));
    expect(await missingKeys(world().engine, plain)).toEqual([first.currentKey]);
    expect(await reencryptSecrets(world().engine, rotated, rotated)).toBe(2);
    expect(await reencryptSecrets(world().engine, rotated, rotated)).toBe(0);
    expect(await countSecretsByKey(world().engine)).toEqual(new Map([[rotated.currentKey, 2]]));
    await webhookDeliveries.send(account, 'e1', message());
    expect(await storeWith(new SecretBox([two])).webhookDeliveries.claim(1)).toMatchObject([{ secrets: [secret] }]);
    const own = await webhookEndpoints.accountSecrets(account);
    expect(await stored()).not.toContain(own[0]?.secret);
    expect(await webhookEndpoints.accountSecrets(account)).toEqual(own);
    expect(await reencryptSecrets(world().engine, rotated, plain)).toBe(3);
    expect(await storeWith(plain).webhookEndpoints.secrets(account, 'e2')).toMatchObject([{ secret: other }]);
  });

  it('of authenticator apps are encrypted, and those from before stay readable', async () => {
    const { users } = world().store;
    const account = await world().account();
    const expiresAt = new Date(world().clock().getTime() + 60_000);
    await users.addLink('l', { email: 'ann@example.com', role: 'member', accountId: account, expiresAt }, ACTOR);
    const { id: userId } = must(await users.useLink('l', 'hash'), 'the user');
    const factor = { userId, secret: 'A'.repeat(32), step: 1, recoveryHashes: ['one'] };
    await storeWith(first).secondFactors.add(factor);
    const rows = async (): Promise<string> =>
      JSON.stringify(await world().engine.all('select secret from authenticators'));
    expect(await rows()).not.toContain('AAAA');
    expect(await storeWith(rotated).secondFactors.find(userId)).toMatchObject({ secret: factor.secret });
    await expect(storeWith(plain).secondFactors.find(userId)).rejects.toThrow('is missing');
    await reencryptSecrets(world().engine, first, plain);
    expect(await rows()).toContain('AAAA');
    expect(await storeWith(rotated).secondFactors.find(userId)).toMatchObject({ secret: factor.secret });
  });
}
