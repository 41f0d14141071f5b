import { describe, expect, it } from 'vitest';
import { onceAvailable, openEngine } from '../../src/main/open-store.ts';
import { freePort } from '../free-port.ts';
import { createPostgres, NO_POSTGRES } from '../postgres-server.ts';

const open = (databaseUrl: string) => async () => await openEngine({ dataDirectory: '', databaseUrl });
const nothing = (): void => undefined;

describe('a server whose database is unavailable at its start', () => {
  it('a server whose database is unavailable at its start gives up with a code that means unavailable, not with one for wrong settings', async () => {
    const url = `postgres://127.0.0.1:${await freePort()}/storybar`;
    await expect(onceAvailable(open(url), nothing, 0)).rejects.toMatchObject({
      name: 'AppError',
      code: 'storage_unavailable',
      message: expect.stringMatching(/STORYBAR_DATABASE_URL cannot be used: .*ECONNREFUSED/u),
    });
  });

  it('retries until the database is there, but not when the database refuses its role', async (context) => {
    const postgres = await createPostgres();
    if (postgres === undefined) return context.skip(NO_POSTGRES);
    try {
      await postgres.stop('SIGINT');
      let restart: Promise<void> | undefined;
      const engine = await onceAvailable(
        open(postgres.url),
        () => {
          restart ??= postgres.start();
        },
        Number.POSITIVE_INFINITY,
      );
      expect(restart).toBeDefined();
      await engine.close();
      const stranger = postgres.url.replace('postgres@', 'stranger@');
      await expect(onceAvailable(open(stranger), nothing)).rejects.toMatchObject({ name: 'SettingsError' });
    } finally {
      await postgres.remove();
    }
  });
});
