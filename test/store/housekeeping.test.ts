// The log entries about ledger entries that could not be written.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import pino from 'pino';
import { RequestLogWriter } from '../../src/service/store/requests/request-log-writer.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Refusals } from '../../src/service/renders/refusals.ts';
import { ReplayCache } from '../../src/service/renders/replay-cache.ts';
import { Housekeeping } from '../../src/main/housekeeping.ts';
import { Metrics } from '../../src/service/telemetry/metrics.ts';
import { sqliteDatabase } from './databases.ts';
import { DELIVERED, World } from './world.ts';

describe('housekeeping', () => {
  let world: World;
  let folder: string;
  let housekeeping: Housekeeping;
  const lines: unknown[] = [];
  beforeEach(async () => {
    world = await World.begin(sqliteDatabase());
    folder = mkdtempSync(path.join(tmpdir(), 'storybar-housekeeping-'));
    lines.length = 0;
    const output = new Writable({
      write: (chunk, _encoding, done) => {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    });
    housekeeping = new Housekeeping({
      requestLog: new RequestLogWriter(world.store.requests),
      store: world.store,
      refusals: new Refusals(world.store.usage),
      replayCache: await ReplayCache.open(folder, 1_000),
      logger: pino({}, output),
      metrics: new Metrics('1.2.3').dependencies,
      keepRendersDays: 30,
      embedded: true,
    });
    await housekeeping.start();
    await world.store.ledger.reserve(await world.hold(await world.account(), { renderId: 'broken' }));
    await world.engine.run(
      "create trigger reject before update on holds begin select raise(abort, 'rejected by a trigger'); end",
    );
    await world.store.ledger.settle('broken', DELIVERED).catch(() => undefined);
  });
  afterEach(async () => {
    await world.database.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('logs the ids of ledger entries that were not written before shutdown', async () => {
    await housekeeping.stop();
    expect(lines).toMatchObject([
      {
        level: 50,
        msg: 'ledger entries not written before shutdown',
        writes: [{ kind: 'settle', renderId: 'broken' }],
      },
    ]);
  });

  it('logs the ids of a ledger entry that is given up', async () => {
    for (let attempt = 1; attempt < 10; attempt += 1) await world.store.pendingWrites.retry();
    await housekeeping.stop();
    expect(lines).toMatchObject([
      {
        level: 50,
        msg: 'ledger entry given up after repeated failures',
        kind: 'settle',
        renderId: 'broken',
        err: { message: 'rejected by a trigger' },
      },
    ]);
  });
});
