// API keys managed on the command line take effect on a running server.

import { beforeAll, expect, it } from 'vitest';
import { form, post, problemOf, until } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const FORM = { width: '32', height: '32', text: 'a' };

async function outcomeOf(key: string): Promise<string> {
  const response = await post({ url: server.url, key }, form(FORM));
  if (response.status === 200) {
    await response.arrayBuffer();
    return '200';
  }
  return `${response.status} ${(await problemOf(response)).code}`;
}

it('creates, suspends, resumes and revokes a key, effective immediately', async () => {
  const created = JSON.parse(await server.cli('keys', 'create', '--plan', 'starter', '--name', 'shop', '--json')) as {
    id: string;
    key: string;
    plan: string;
  };
  expect(created).toMatchObject({
    id: expect.any(String),
    key: expect.stringMatching(/^sb_live_\w{33}$/u),
    plan: 'starter',
  });
  expect(await outcomeOf(created.key)).toBe('200');
  await server.cli('keys', 'suspend', created.id);
  expect(await outcomeOf(created.key)).toBe('403 key_suspended');
  await server.cli('keys', 'resume', created.id);
  expect(await outcomeOf(created.key)).toBe('200');
  await server.cli('keys', 'revoke', created.id);
  expect(await outcomeOf(created.key)).toBe('401 invalid_api_key');
  await expect(server.cli('keys', 'resume', created.id)).rejects.toThrow('a revoked key cannot be changed');
});

it('the server lists keys by prefix and last four characters, with the time of last use', async () => {
  const created = JSON.parse(await server.cli('keys', 'create', '--plan', 'free', '--json')) as {
    id: string;
    key: string;
  };
  await outcomeOf(created.key);
  // The server doesn't wait until the time of last use is written.
  const [listed, text] = await until(async () => {
    const output = await server.cli('keys', 'list', '--json');
    const found = (JSON.parse(output) as Record<string, unknown>[]).find(({ id }) => id === created.id);
    return found?.['lastUsedAt'] === null ? undefined : ([found, output] as const);
  });
  expect(text).not.toContain(created.key);
  expect(listed).toMatchObject({
    plan: 'free',
    state: 'active',
    prefix: created.key.slice(0, 12),
    lastFour: created.key.slice(-4),
    lastUsedAt: expect.stringMatching(/^\d{4}-/u),
  });
});

it.each([
  [['keys', 'create'], 'give --plan for a new account'],
  [['keys', 'create', '--plan', 'gold'], 'unknown plan "gold"; the plans are free, starter, pro, business'],
  [['keys', 'suspend'], 'missing <id>; usage: storybar keys suspend <id>'],
  [['keys', 'revoke', 'unknown'], 'Key "unknown" not found'],
  [['keys', 'frobnicate'], 'unknown action "keys frobnicate"'],
  [['frobnicate'], 'unknown command "frobnicate"'],
  [['keys', 'list', '--frob'], 'unknown option "--frob"'],
])('rejects the arguments %j', async (args, message) => {
  await expect(server.cli(...args)).rejects.toThrow(message);
});
