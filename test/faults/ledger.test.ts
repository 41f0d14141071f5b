// The server is killed in the middle of load: what clients really received is compared with what they paid for.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { form, post, type RunningServer, startServer, until } from '../running-server.ts';

const CLIENTS = 8;

let dataDirectory: string;
let photo: Buffer;
beforeAll(async () => {
  dataDirectory = mkdtempSync(path.join(tmpdir(), 'storybar-ledger-'));
  photo = await noisyJpeg(500, 500);
});
afterAll(() => rmSync(dataDirectory, { recursive: true, force: true }));

/** Asks again and again until the server is gone; notes the id of every render whose last byte arrived. */
async function client(server: Pick<RunningServer, 'url' | 'key'>, received: Set<string>): Promise<void> {
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

function read(statement: string): Record<string, unknown>[] {
  const database = new Database(path.join(dataDirectory, 'storybar.db'));
  try {
    return database.prepare(statement).all([]) as Record<string, unknown>[];
  } finally {
    database.close();
  }
}

describe('kill -9 under load', () => {
  it('charges nothing that was not delivered, and misses at most what was in flight', async () => {
    const received = new Set<string>();
    let key = '';
    for (let round = 0; round < 3; round += 1) {
      const server = await startServer({ STORYBAR_DATA_DIR: dataDirectory });
      if (round === 0) ({ key } = server);
      const clients = Array.from({ length: CLIENTS }, async () => await client({ url: server.url, key }, received));
      const before = received.size;
      await until(() => received.size > before + 10);
      server.signal('SIGKILL');
      await Promise.all(clients);
      await server.exited;
    }
    const last = await startServer({ STORYBAR_DATA_DIR: dataDirectory });
    // Its start released what the dead ones held.
    expect(read("select count(*) as held from renders where state = 'reserved'")).toEqual([{ held: 0 }]);
    const charged = new Set(read("select id from renders where state = 'settled'").map(({ id }) => String(id)));
    expect([...charged].filter((id) => !received.has(id))).toEqual([]);
    expect([...received].filter((id) => !charged.has(id)).length).toBeLessThanOrEqual(3 * CLIENTS);
    expect(read('select sum(used) as used, sum(reserved) as reserved from periods')).toEqual([
      { used: charged.size, reserved: 0 },
    ]);
    await last.stop();
  }, 120_000);
});
