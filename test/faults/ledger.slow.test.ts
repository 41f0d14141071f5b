// Kills servers under load and compares deliveries with charges.

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { embeddedDatabase, type RunningDatabase, serverDatabase } from '../running-database.ts';
import { form, post, type RunningServer, startServer, until } from '../running-server.ts';

const CLIENTS = 8;
const ROUNDS = 3;
/** Covers the lease of a dead server, which has to run out before its holds are released. */
const LEASE_MS = 45_000;

const postgresUrl = inject('postgresUrl');
if (postgresUrl === '') console.warn(`skipped: ${NO_POSTGRES}`);

/** Sends requests until the server is gone, and records the id of every render that arrived completely. */
async function client(server: Pick<RunningServer, 'url' | 'key'>, photo: Buffer, received: Set<string>): Promise<void> {
  for (;;) {
    try {
      const response = await post(server, form({ asset: photo, text: 'Hello' }));
      const bytes = (await response.arrayBuffer()).byteLength;
      if (response.status === 200 && bytes === Number(response.headers.get('content-length'))) {
        received.add(response.headers.get('x-render-id') ?? '');
      }
    } catch {
      return;
    }
  }
}

describe.each([
  ['the embedded database', embeddedDatabase, true],
  ['PostgreSQL', async () => await serverDatabase(postgresUrl), postgresUrl !== ''],
] as const)('kill -9 under load, with %s', (_name, createDatabase, available) => {
  let database: RunningDatabase;
  let photo: Buffer;
  beforeAll(async () => {
    if (!available) return;
    database = await createDatabase();
    photo = await noisyJpeg(400, 400);
  });
  afterAll(async () => {
    if (available) await database.remove();
  });

  it.skipIf(!available)(
    'the ledger charges no undelivered render, and fails to charge at most those in flight',
    async () => {
      const received = new Set<string>();
      let key = '';
      for (let round = 0; round < ROUNDS; round += 1) {
        const server = await startServer(database.env);
        if (round === 0) ({ key } = server);
        const caller = { url: server.url, key };
        const clients = Array.from({ length: CLIENTS }, async () => await client(caller, photo, received));
        const before = received.size;
        await until(() => received.size > before + 10);
        server.signal('SIGKILL');
        await Promise.all(clients);
        await server.exited;
      }
      const last = await startServer(database.env);
      const held = async (): Promise<unknown> =>
        (await database.read("select count(*) as held from holds where state = 'reserved'"))[0]?.['held'];
      await until(async () => (await held()) === 0, LEASE_MS);
      const settled = await database.read("select id from holds where state = 'settled'");
      const charged = new Set(settled.map(({ id }) => String(id)));
      expect([...charged].filter((id) => !received.has(id))).toEqual([]);
      expect([...received].filter((id) => !charged.has(id)).length).toBeLessThanOrEqual(ROUNDS * CLIENTS);
      expect(await database.read('select sum(used) as used, sum(reserved) as reserved from periods')).toEqual([
        { used: charged.size, reserved: 0 },
      ]);
      await last.stop();
    },
  );
});
