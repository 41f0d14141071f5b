import { tmpdir } from 'node:os';
import { Writable } from 'node:stream';
import pino from 'pino';
import { expect, it } from 'vitest';
import { SPARE_BYTES } from '../service/renders/upload-budget.ts';
import { Metrics } from '../service/telemetry/metrics.ts';
import { warnAboutDisk, watchDisks } from './watch-resources.ts';

it('a server reports the free space of each disk and the reserve as metrics', async () => {
  const metrics = new Metrics('1.2.3');
  const disk = await watchDisks({ data: tmpdir(), storage: tmpdir() }, metrics);
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('storybar_disk_'));
  expect(lines).toHaveLength(3);
  expect(lines).toContain(`storybar_disk_reserve_bytes ${SPARE_BYTES}`);
  expect(lines).toContain(`storybar_disk_free_bytes{place="data"} ${disk.free}`);
  expect(disk.free).toBeGreaterThan(0);
});

it('a server says at its start that free disk space is below the reserve, and nothing otherwise', () => {
  const lines: unknown[] = [];
  const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
    lines.push(JSON.parse(chunk.toString()));
    done();
  };
  const logger = pino({}, new Writable({ write }));
  warnAboutDisk(SPARE_BYTES, 'data', logger);
  expect(lines).toEqual([]);
  warnAboutDisk(SPARE_BYTES - 1, 'data', logger);
  expect(lines).toMatchObject([
    {
      level: 50,
      msg: 'disk space below the reserve, uploads are refused',
      directory: 'data',
      freeBytes: SPARE_BYTES - 1,
      reserveBytes: SPARE_BYTES,
    },
  ]);
});
