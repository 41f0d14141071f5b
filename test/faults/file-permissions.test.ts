// Uploads, results and accounts on disk are readable by the service's own user only, even under a permissive umask.

import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { plainPng } from '../pictures.ts';
import { form, post, type RunningServer, startServer } from '../running-server.ts';

const umaskBefore = process.umask(0o000);
let server: RunningServer | undefined;
afterEach(async () => {
  process.umask(umaskBefore);
  await server?.stop();
});

/** Files and directories that other users may read, write or list. */
function exposed(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const info = lstatSync(path.join(directory, name));
    return !info.isSymbolicLink() && !info.isSocket() && (info.mode & 0o077) !== 0;
  });
}

it('keeps every file in the data directory private, and makes an existing database private', async () => {
  server = await startServer();
  const key = { headers: { 'idempotency-key': 'kept' } };
  const response = await post(server, form({ asset: await plainPng(40, 40, '#446688'), text: 'a' }), key);
  expect(response.status).toBe(200);
  await response.arrayBuffer();
  expect(readdirSync(server.dataDirectory)).toContain('storybar.db');
  expect(exposed(server.dataDirectory)).toEqual([]);
  chmodSync(path.join(server.dataDirectory, 'storybar.db'), 0o644);
  await server.cli('keys', 'list');
  expect(exposed(server.dataDirectory)).toEqual([]);
});
