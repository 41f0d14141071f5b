import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import { S3Client } from '../../src/service/storage/s3/s3-client.ts';
import { S3Storage } from '../../src/service/storage/s3/s3-storage.ts';
import { elements } from '../../src/service/storage/s3/s3-xml.ts';
import { hasSwift, NO_SWIFT, type RunningS3, startS3rver, startSwift } from '../running-s3.ts';
import { storageContract } from './contract.ts';

const { signal } = new AbortController();
if (!hasSwift) console.warn(`skipped: ${NO_SWIFT}`);

/** The file has more than two parts. */
const LARGE = randomBytes(36 * 1024 * 1024);
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** `isReal` is true if the service verifies signatures and lists unfinished uploads. */
function s3Tests(startService: () => Promise<RunningS3>, isReal: boolean): void {
  let service: RunningS3;
  let folder: string;
  beforeAll(async () => {
    service = await startService();
    folder = mkdtempSync(path.join(tmpdir(), 'storybar-s3-files-'));
    writeFileSync(path.join(folder, 'large'), LARGE);
  });
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const open = (options: Partial<RunningS3['options']> = {}): S3Storage =>
    new S3Storage({ ...service.options, prefix: `${randomUUID()}/`, ...options });

  storageContract(async () => open());

  it('uploads a large file in parts and returns the same bytes, also in a range across two parts', async () => {
    const storage = open();
    await storage.put('outputs/large', path.join(folder, 'large'));
    expect(await storage.size('outputs/large')).toBe(LARGE.length);
    const copy = path.join(folder, randomUUID());
    expect(await storage.copyTo('outputs/large', copy, signal)).toBe(true);
    expect(sha256(readFileSync(copy))).toBe(sha256(LARGE));
    const [start, end] = [16 * 1024 * 1024 - 5, 16 * 1024 * 1024 + 5];
    const object = must(await storage.get('outputs/large', { start, end }), 'the object');
    expect(object.bytes).toBe(LARGE.length);
    expect((await buffer(object.body)).equals(LARGE.subarray(start, end + 1))).toBe(true);
  });

  it.skipIf(!isReal)('the storage reports a wrong secret', async () => {
    const storage = open({ secretAccessKey: 'wrong' });
    await expect(storage.put('outputs/one', path.join(folder, 'large'))).rejects.toMatchObject({
      code: 'storage_unavailable',
      cause: { name: 'S3Error', status: 403, code: 'SignatureDoesNotMatch' },
    });
  });

  it('the storage reports a missing bucket as an error of the storage, not as a missing object', async () => {
    const storage = open({ bucket: 'other-bucket' });
    const cause = { name: 'S3Error', code: 'NoSuchBucket' };
    await expect(storage.get('outputs/one')).rejects.toMatchObject({ code: 'storage_unavailable', cause });
    await expect(storage.copyTo('outputs/one', path.join(folder, 'no'), signal)).rejects.toMatchObject({ cause });
  });

  it('asks to retry later while the service is unavailable, and works when it is back', async () => {
    const storage = open();
    const file = path.join(folder, 'small');
    writeFileSync(file, 'bytes');
    await storage.put('outputs/one', file);
    await service.kill();
    const trouble = { code: 'storage_unavailable', retryAfterSeconds: 5 };
    await expect(storage.put('outputs/two', file)).rejects.toMatchObject(trouble);
    await expect(storage.get('outputs/one')).rejects.toMatchObject(trouble);
    await expect(storage.size('outputs/one')).rejects.toMatchObject(trouble);
    await expect(storage.copyTo('outputs/one', path.join(folder, 'no'), signal)).rejects.toMatchObject(trouble);
    await expect(storage.delete('outputs/one')).rejects.toMatchObject(trouble);
    await service.restart();
    expect((await buffer(must(await storage.get('outputs/one'), 'the object').body)).toString()).toBe('bytes');
  });

  it.skipIf(!isReal)('aborts unfinished uploads that are old, and keeps young ones', async () => {
    const prefix = `${randomUUID()}/`;
    const { prefix: _prefix, ...options } = service.options;
    const client = new S3Client(options);
    await client.sendForText({ method: 'POST', key: `${prefix}outputs/half`, query: { uploads: '' } });
    const unfinished = async (): Promise<number> => {
      const list = await client.sendForText({ method: 'GET', key: '', query: { uploads: '', prefix } });
      return elements(list, 'Upload').length;
    };
    const listAll = async (storage: S3Storage): Promise<void> => {
      for await (const { name } of storage.list('outputs')) expect(name).toBe('none');
    };
    await listAll(open({ prefix }));
    expect(await unfinished()).toBe(1);
    await listAll(open({ prefix, staleAfterMs: -60_000 }));
    expect(await unfinished()).toBe(0);
  });
}

describe('S3 storage on s3rver', () => {
  s3Tests(startS3rver, false);
});

describe.skipIf(!hasSwift)('S3 storage on OpenStack Swift (needs python3-swift)', () => {
  s3Tests(startSwift, true);
});
