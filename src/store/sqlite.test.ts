import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApiKey, hashKey, maskKey } from '../account/api-key.ts';
import { SqliteStore } from './sqlite.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-store-'));
  file = path.join(folder, 'deep', 'storybar.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function addKey(store: SqliteStore, id: string): Promise<Buffer> {
  const key = createApiKey('live');
  const hash = hashKey(key);
  await store.createAccountWithKey(
    { id: `account-${id}`, name: 'shop', plan: 'pro' },
    { id, accountId: `account-${id}`, name: 'shop', mode: 'live', hash, ...maskKey(key) },
  );
  return hash;
}

describe('the embedded store', () => {
  it('finds a key by its hash and nothing by another', async () => {
    const store = new SqliteStore(file);
    const hash = await addKey(store, 'k1');
    expect(await store.findKey(hash)).toEqual({
      keyId: 'k1',
      keyState: 'active',
      mode: 'live',
      accountId: 'account-k1',
      accountState: 'active',
      plan: 'pro',
    });
    expect(await store.findKey(hashKey('other'))).toBeUndefined();
    expect(await store.countAccounts()).toBe(1);
    await store.close();
  });

  it('shows a change made by another process at once', async () => {
    const server = new SqliteStore(file);
    const commandLine = new SqliteStore(file);
    const hash = await addKey(server, 'k1');
    expect(await commandLine.setKeyState('k1', 'suspended')).toBe(true);
    expect(await server.findKey(hash)).toMatchObject({ keyState: 'suspended' });
    await server.close();
    await commandLine.close();
  });

  it('keeps a revoked key revoked', async () => {
    const store = new SqliteStore(file);
    await addKey(store, 'k1');
    expect(await store.setKeyState('k1', 'revoked')).toBe(true);
    expect(await store.setKeyState('k1', 'active')).toBe(false);
    expect(await store.setKeyState('nobody', 'active')).toBe(false);
    await store.close();
  });

  it('creates account and key together or not at all', async () => {
    const store = new SqliteStore(file);
    await addKey(store, 'k1');
    // The same key id again: the account before it in the transaction must not stay.
    await expect(
      store.createAccountWithKey(
        { id: 'account-2', name: 'b', plan: 'free' },
        { id: 'k1', accountId: 'account-2', name: 'b', mode: 'live', hash: hashKey('x'), prefix: 'p', lastFour: 'l' },
      ),
    ).rejects.toThrow('UNIQUE');
    expect(await store.countAccounts()).toBe(1);
    await store.close();
  });

  it('notes when a key was last used', async () => {
    const store = new SqliteStore(file);
    await addKey(store, 'k1');
    expect(await store.listKeys()).toMatchObject([{ id: 'k1', plan: 'pro', lastUsedAt: null }]);
    await store.markKeyUsed('k1');
    expect(await store.listKeys()).toMatchObject([{ lastUsedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/u) }]);
    await store.close();
  });

  it('opens the same file again with its contents, and refuses one from the future', async () => {
    const first = new SqliteStore(file);
    const hash = await addKey(first, 'k1');
    await first.close();
    const second = new SqliteStore(file);
    expect(await second.findKey(hash)).toBeDefined();
    await second.close();
    const raw = new Database(file);
    raw.exec('pragma user_version = 999');
    raw.close();
    expect(() => new SqliteStore(file)).toThrow('newer than this program');
  });
});
