import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readSettings } from '../../src/service/config/settings.ts';
import { openStorage } from '../../src/main/open-storage.ts';
import type { Logger } from '../../src/service/telemetry/logger.ts';
import { type RunningS3, startS3rver } from '../running-s3.ts';

let service: RunningS3;
let dataDirectory: string;
let warnings: string[];
beforeAll(async () => {
  service = await startS3rver();
  dataDirectory = mkdtempSync(path.join(tmpdir(), 'storybar-open-storage-'));
});
afterAll(async () => {
  await service.stop();
  rmSync(dataDirectory, { recursive: true, force: true });
});
beforeEach(() => {
  warnings = [];
});

async function open(environment: Readonly<Record<string, string>>): ReturnType<typeof openStorage> {
  const logger = { warn: (_facts: object, message: string) => warnings.push(message) } as unknown as Logger;
  return await openStorage(readSettings({ STORYBAR_DATA_DIR: dataDirectory, ...environment }), logger);
}

describe('opening a bucket', () => {
  it('tries it out and leaves nothing behind', async () => {
    const storage = await open(service.env);
    const names: string[] = [];
    for await (const { name } of storage.list('outputs')) names.push(name);
    expect([names, warnings, readdirSync(dataDirectory)]).toEqual([[], [], []]);
    storage.close();
  });

  it('fails without credentials, and names both variables', async () => {
    await expect(open({ STORYBAR_STORAGE: 's3://bucket' })).rejects.toMatchObject({
      faults: [
        'AWS_ACCESS_KEY_ID must be set for STORYBAR_STORAGE=s3://bucket',
        'AWS_SECRET_ACCESS_KEY must be set for STORYBAR_STORAGE=s3://bucket',
      ],
    });
  });

  it.each([
    ['an unknown access key', { AWS_ACCESS_KEY_ID: 'other' }, '403 InvalidAccessKeyId'],
    ['a bucket that does not exist', { STORYBAR_STORAGE: 's3://other-bucket/a' }, '404 NoSuchBucket'],
  ])('fails with %s, and says what the service said', async (_name, change, reason) => {
    const error = await open({ ...service.env, ...change }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: 'SettingsError' });
    expect(String(error)).toContain(`cannot be used: the storage service responded with ${reason}`);
    expect(readdirSync(dataDirectory)).toEqual([]);
  });

  it('opening a bucket only warns while the storage is unavailable, because other requests need no storage', async () => {
    const storage = await open({ ...service.env, STORYBAR_S3_ENDPOINT: 'http://127.0.0.1:9' });
    expect(warnings).toEqual(['storage unavailable, asynchronous requests fail until it is back']);
    storage.close();
  });
});
