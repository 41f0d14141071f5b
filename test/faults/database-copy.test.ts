// `storybar db copy` while a server uses the database.

import path from 'node:path';
import { expect, it } from 'vitest';
import { startServer } from '../running-server.ts';

it('db copy refuses a database that a running server uses, and copies it as soon as the server has stopped', async () => {
  const running = await startServer();
  const copy = async (name: string): Promise<string> => {
    const from = `sqlite:${path.join(running.dataDirectory, 'storybar.db')}`;
    return await running.cli('db', 'copy', '--from', from, '--to', `sqlite:${path.join(running.dataDirectory, name)}`);
  };
  await expect(copy('during.db')).rejects.toThrow(
    new RegExp(`servers are using the source, nothing was copied: process ${running.pid} on `, 'u'),
  );
  running.signal('SIGTERM');
  await running.exited;
  expect(await copy('after.db')).toContain('All tables were copied and verified.');
  await running.stop();
});
