// Two API servers and two workers on one bucket, one PostgreSQL and one NATS. The server that accepted the renders is
// killed, and so is a worker. The others finish everything, and every render is charged once.

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { S3Storage } from '../../src/service/storage/s3/s3-storage.ts';
import { hold } from '../held-workers.ts';
import { noisyJpeg } from '../pictures.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { type RunningDatabase, serverDatabase } from '../running-database.ts';
import { hasNats } from '../running-nats.ts';
import { hasSwift, NO_SWIFT, type RunningS3, startS3rver, startSwift } from '../running-s3.ts';
import { form, post, problemOf, type RunningServer, until } from '../running-server.ts';
import type { RunningWorker } from '../running-worker.ts';
import { Fleet, isRendering, waitForSlots } from './fleet.ts';

interface Render {
  readonly id: string;
  readonly status: string;
  readonly output: { readonly url: string; readonly bytes: number } | null;
}

const COUNT = 12;
const postgresUrl = inject('postgresUrl');
if (postgresUrl === '') console.warn(`skipped: ${NO_POSTGRES}`);
if (!hasSwift) console.warn(`skipped: ${NO_SWIFT}`);

function fleetTests(startStorage: () => Promise<RunningS3>): void {
  let s3: RunningS3;
  let database: RunningDatabase;
  let fleet: Fleet;
  let environment: Record<string, string>;
  let [first, second]: RunningServer[] = [];
  let workers: RunningWorker[];
  let photo: Buffer;
  beforeAll(async () => {
    [s3, database, fleet, photo] = await Promise.all([
      startStorage(),
      serverDatabase(postgresUrl),
      Fleet.start(),
      noisyJpeg(1_200, 900),
    ]);
    environment = { ...database.env, ...s3.env };
    first = await fleet.startApiServer(environment);
    second = await fleet.startApiServer(environment);
    workers = await Promise.all([fleet.startReadyWorker(), fleet.startReadyWorker()]);
    await Promise.all([waitForSlots(first, 2), waitForSlots(second, 2)]);
  });
  afterAll(async () => {
    await fleet.stop();
    await database.remove();
    await s3.stop();
  });

  async function bytesOf(server: RunningServer, { output }: Render): Promise<Buffer> {
    const url = new URL(new URL(output?.url ?? '').pathname, server.url);
    const response = await fetch(url);
    expect(response.status).toBe(200);
    const bytes = Buffer.from(await response.arrayBuffer());
    const part = await fetch(url, { headers: { range: 'bytes=10-99' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(10, 100))).toBe(true);
    return bytes;
  }

  it('finish renders of a server that was killed, charge each once, and all serve the results', async () => {
    const [accepting, other] = [first as RunningServer, second as RunningServer];
    const { key } = accepting;
    const headers = { 'x-api-key': key };
    const ids: string[] = [];
    const [lost, survivor] = workers;
    // The worker must still have a render when it is killed.
    const resume = hold(lost?.renderPids() ?? []);
    for (let count = 0; count < COUNT; count += 1) {
      const fields = { asset: photo, text: `Number ${count}` };
      const response = await post({ url: accepting.url, key }, form(fields), { headers: { prefer: 'respond-async' } });
      expect(response.status).toBe(202);
      ids.push(((await response.json()) as Render).id);
    }
    await until(async () => lost !== undefined && (await isRendering(lost)));
    lost?.signal('SIGKILL');
    // It exits when it notices that its parent is gone.
    resume();
    accepting.signal('SIGKILL');
    await accepting.exited;
    expect(survivor).toBeDefined();
    const renders = await until(async () => {
      const response = await fetch(`${other.url}/v1/renders?limit=100`, { headers });
      const list = ((await response.json()) as { renders: Render[] }).renders;
      return list.every(({ status }) => status === 'succeeded' || status === 'failed') && list;
    });
    expect(renders.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(renders.filter(({ status }) => status !== 'succeeded')).toEqual([]);
    expect(await database.read('select max(attempts) as most from renders')).not.toEqual([{ most: 1 }]);
    // One hold per render, settled.
    expect(
      await database.read('select state, count(*) as n, sum(credits) as credits from holds group by state'),
    ).toEqual([{ state: 'settled', n: COUNT, credits: COUNT }]);
    expect(await database.read('select sum(used) as used, sum(reserved) as reserved from periods')).toEqual([
      { used: COUNT, reserved: 0 },
    ]);
    const third = await fleet.startApiServer(environment);
    for (const render of renders.slice(0, 4)) {
      expect((await bytesOf(other, render)).equals(await bytesOf(third, render))).toBe(true);
    }
    const [expired] = renders;
    const past = `update renders set expires_at = '2026-01-01T00:00:00.000Z' where id = '${expired?.id}' returning output`;
    const object = String((await database.read(past))[0]?.['output']);
    const storage = new S3Storage(s3.options);
    expect(await storage.size(object)).toBe(expired?.output?.bytes);
    const link = new URL(new URL(expired?.output?.url ?? '').pathname, other.url);
    expect(await problemOf(await fetch(link))).toMatchObject({ status: 410, code: 'result_expired' });
    // Both servers sweep. Assets are deleted when their renders have ended, at the latest now.
    await until(async () => (await storage.size(object)) === undefined);
    const isEmpty = async (): Promise<boolean> => (await storage.list('assets').next()).done === true;
    await until(isEmpty);
    expect(await problemOf(await fetch(link))).toMatchObject({ status: 410, code: 'result_expired' });
    // The row is changed after the object.
    const sums = 'select sum(has_asset) as assets, sum(has_output) as outputs from renders';
    await until(async () => (await database.read(sums))[0]?.['outputs'] !== COUNT);
    expect(await database.read(sums)).toEqual([{ assets: 0, outputs: COUNT - 1 }]);
  });
}

describe.skipIf(postgresUrl === '' || !hasNats)(
  'two API servers and two workers (needs PostgreSQL, nats-server)',
  () => {
    describe('on s3rver', () => {
      fleetTests(startS3rver);
    });
    describe.skipIf(!hasSwift)('on OpenStack Swift (needs python3-swift)', () => {
      fleetTests(startSwift);
    });
  },
);
