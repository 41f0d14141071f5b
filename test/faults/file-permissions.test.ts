// Uploads, results and accounts on disk are readable by the service's own user only, even under a permissive umask.

import { chmodSync, existsSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { plainPng } from '../pictures.ts';
import { form, post, type RunningServer, startServer } from '../running-server.ts';

let umaskBefore: number;
let server: RunningServer | undefined;
beforeEach(() => {
  umaskBefore = process.umask(0o000);
});
afterEach(async () => {
  process.umask(umaskBefore);
  await server?.stop();
});

/** Files and directories that other users may read, write or list. The server may delete some of them meanwhile. */
function exposed(directory: string): string[] {
  const names = readdirSync(directory, { encoding: 'utf8' }).map((name) => path.join(directory, name));
  return names.flatMap((name) => {
    const info = lstatSync(name, { throwIfNoEntry: false });
    if (info === undefined || info.isSymbolicLink() || info.isSocket()) return [];
    const inside = info.isDirectory() && existsSync(name) ? exposed(name) : [];
    return (info.mode & 0o077) === 0 ? inside : [name, ...inside];
  });
}

it('the server keeps every file in the data directory private, and makes an existing database private', async () => {
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
