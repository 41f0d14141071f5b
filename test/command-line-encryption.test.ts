import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SqliteEngine } from '../src/service/store/sqlite-engine.ts';
import { createStore } from '../src/service/store/store.ts';
import { type CommandResult, runCommand } from './run-command.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-encryption-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function storybar(args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandResult> {
  return await runCommand(args, { env: { PATH: process.env['PATH'] ?? '', ...env } });
}

describe('storybar db reencrypt', () => {
  it('encrypts secrets, and refuses to work without the key that they need', async () => {
    const keys = path.join(folder, 'keys');
    writeFileSync(keys, Buffer.alloc(32, 7).toString('base64'));
    const env = { STORYBAR_DATA_DIR: path.join(folder, 'encrypted') };
    const engine = new SqliteEngine(path.join(folder, 'encrypted', 'storybar.db'));
    const { accounts, webhookEndpoints } = createStore(engine);
    await accounts.create({ id: 'a', name: 'A' }, 'cli:test');
    await webhookEndpoints.create({ id: 'e', accountId: 'a', url: 'https://a.example/', events: [] }, 1, 'cli:test');
    await engine.close();
    const withKeys = { ...env, STORYBAR_ENCRYPTION_KEYS: keys };
    expect(await storybar(['db', 'reencrypt', '--json'], withKeys)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"changed":1'),
    });
    expect(await storybar(['accounts', 'list'], withKeys)).toMatchObject({ code: 0 });
    const refused = await storybar(['accounts', 'list'], env);
    expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('STORYBAR_ENCRYPTION_KEYS lacks') });
    expect(await storybar(['db', 'reencrypt'], env)).toMatchObject({ code: 64 });
    expect(await storybar(['db', 'reencrypt', '--plain'], withKeys)).toMatchObject({ code: 0 });
    expect(await storybar(['accounts', 'list'], env)).toMatchObject({ code: 0 });
  });
});
