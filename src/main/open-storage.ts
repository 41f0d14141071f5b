// Opens the storage of the settings and checks at startup that it can be used.

import { randomUUID } from 'node:crypto';
import { rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Settings, SettingsError, type StorageSettings } from '../service/config/settings.ts';
import { AppError } from '../shared/errors.ts';
import { messageOf } from '../shared/error-facts.ts';
import { FileStorage } from '../service/storage/file-storage.ts';
import type { ObjectStorage } from '../service/storage/object-storage.ts';
import { S3Error } from '../service/storage/s3/s3-error.ts';
import type { S3Storage } from '../service/storage/s3/s3-storage.ts';
import type { Logger } from '../service/telemetry/logger.ts';

const GIGABYTE = 1_000_000_000;
/** The rest is for the database, for files of running requests and for everything else on the disk. */
const DISK_SHARE = 0.5;
const BUCKET_GIGABYTES = 1_000;

export async function openStorage(settings: StorageSettings, logger: Logger): Promise<ObjectStorage> {
  const { storage, dataDirectory } = settings;
  if (storage.kind === 's3') return await openBucket(settings, storage, logger);
  const directory = directoryOf(storage, dataDirectory);
  try {
    return await FileStorage.open(directory);
  } catch (error) {
    throw new SettingsError([`STORYBAR_STORAGE ${directory} cannot be used: ${messageOf(error)}`]);
  }
}

/** Returns how many bytes all accounts together may store if the setting is empty. Call it when the storage is open. */
export async function storedBytesLimit({ storedGigabytes, storage, dataDirectory }: StorageSettings): Promise<number> {
  if (storedGigabytes !== undefined) return storedGigabytes * GIGABYTE;
  if (storage.kind === 's3') return BUCKET_GIGABYTES * GIGABYTE;
  const { blocks, bsize } = await statfs(directoryOf(storage, dataDirectory));
  return Math.floor(blocks * bsize * DISK_SHARE);
}

/** False if several servers may use the database, but each has a storage of its own. */
export function hasSharedStorage({ databaseUrl, storage }: Pick<Settings, 'databaseUrl' | 'storage'>): boolean {
  return databaseUrl === '' || storage.kind !== 'default';
}

/** Undefined for a bucket. */
export function storageDirectory({ storage, dataDirectory }: StorageSettings): string | undefined {
  return storage.kind === 's3' ? undefined : directoryOf(storage, dataDirectory);
}

function directoryOf(
  storage: Exclude<StorageSettings['storage'], { readonly kind: 's3' }>,
  dataDirectory: string,
): string {
  return storage.kind === 'file' ? storage.directory : path.join(dataDirectory, 'objects');
}

interface Bucket {
  readonly bucket: string;
  readonly prefix: string;
}

async function bucketStorage(settings: StorageSettings, { bucket, prefix }: Bucket): Promise<S3Storage> {
  const { s3Endpoint, s3PathStyle, s3Region, s3AccessKeyId, s3SecretAccessKey, s3SessionToken } = settings;
  const missing = [
    ...(s3AccessKeyId === '' ? ['AWS_ACCESS_KEY_ID'] : []),
    ...(s3SecretAccessKey === '' ? ['AWS_SECRET_ACCESS_KEY'] : []),
  ];
  if (missing.length > 0) {
    throw new SettingsError(missing.map((variable) => `${variable} must be set for STORYBAR_STORAGE=s3://${bucket}`));
  }
  // Loaded on demand, because most servers keep files on disk.
  const { S3Storage: Storage } = await import('../service/storage/s3/s3-storage.ts');
  return new Storage({
    bucket,
    prefix,
    region: s3Region,
    endpoint: s3Endpoint === '' ? `https://s3.${s3Region}.amazonaws.com` : s3Endpoint,
    // The certificate of Amazon S3 isn't valid for host names with more dots.
    isPathStyle: s3PathStyle === '' ? s3Endpoint !== '' || bucket.includes('.') : s3PathStyle === 'on',
    accessKeyId: s3AccessKeyId,
    secretAccessKey: s3SecretAccessKey,
    sessionToken: s3SessionToken,
  });
}

async function openBucket(settings: StorageSettings, place: Bucket, logger: Logger): Promise<ObjectStorage> {
  const { bucket } = place;
  const storage = await bucketStorage(settings, place);
  try {
    await tryOut(storage, settings.dataDirectory);
  } catch (error) {
    const refusal = error instanceof AppError ? error.cause : undefined;
    if (refusal instanceof S3Error && !refusal.isTemporary) {
      storage.close();
      throw new SettingsError([`STORYBAR_STORAGE s3://${bucket} cannot be used: ${refusal.message}`]);
    }
    // Requests that wait for their render need no storage, so the server starts without it.
    logger.warn({ bucket, err: error }, 'storage unavailable, asynchronous requests fail until it is back');
  }
  return storage;
}

/** For `storybar doctor`: uses the storage once and returns where it is. Throws what is wrong. */
export async function tryStorage(settings: StorageSettings): Promise<string> {
  const { storage, dataDirectory } = settings;
  if (storage.kind === 's3') {
    const bucket = await bucketStorage(settings, storage);
    try {
      await tryOut(bucket, dataDirectory);
    } finally {
      bucket.close();
    }
    return `s3://${storage.bucket}`;
  }
  const directory = directoryOf(storage, dataDirectory);
  await tryOut(await FileStorage.open(directory), dataDirectory);
  return directory;
}

/** Uses every permission that the server needs. The sweep deletes objects that a crash in between leaves. */
async function tryOut(storage: ObjectStorage, dataDirectory: string): Promise<void> {
  const id = `check-${randomUUID()}`;
  const [name, file] = [`outputs/${id}`, path.join(dataDirectory, id)];
  try {
    await writeFile(file, id);
    await storage.put(name, file);
    const object = await storage.get(name);
    object?.body.destroy();
    await storage.list('outputs')[Symbol.asyncIterator]().next();
    await storage.delete(name);
  } finally {
    await rm(file, { force: true });
  }
}
