// Objects in a bucket of an S3-compatible service, for several API servers. Result links use our own URL, so the bucket
// can be private and clients never see it.

import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { rethrowAsStorageError } from '../../../engine/media/work-area.ts';
import {
  assertObjectName,
  isObjectName,
  type ObjectEntry,
  type ObjectRange,
  type ObjectStorage,
  type StoredObject,
} from '../object-storage.ts';
import { S3Client, type S3Options, type S3Request } from './s3-client.ts';
import { S3Error } from './s3-error.ts';
import { elements, elementText } from './s3-xml.ts';
import { abortUpload, uploadFile } from './upload.ts';

const STALE_AFTER_MS = 24 * 3_600_000;
const COPY_ATTEMPTS = 3;

export interface S3StorageOptions extends S3Options {
  /** The prefix of every name: empty, or with a slash at its end. */
  readonly prefix: string;
  /** The age at which an unfinished upload counts as left behind. Default: a day. */
  readonly staleAfterMs?: number;
}

export class S3Storage implements ObjectStorage {
  readonly #client: S3Client;
  readonly #prefix: string;
  readonly #staleAfterMs: number;

  constructor({ prefix, staleAfterMs = STALE_AFTER_MS, ...options }: S3StorageOptions) {
    this.#staleAfterMs = staleAfterMs;
    this.#client = new S3Client(options);
    this.#prefix = prefix;
  }

  async put(name: string, file: string, signal?: AbortSignal): Promise<void> {
    const key = this.#keyOf(name);
    try {
      await uploadFile(this.#client, { key, file, signal });
    } catch (error) {
      signal?.throwIfAborted();
      rethrowAsStorageError(error);
    }
  }

  async copyTo(name: string, file: string, signal: AbortSignal): Promise<boolean> {
    const key = this.#keyOf(name);
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#get({ key, signal });
      if (response === undefined) return false;
      try {
        await pipeline(response, createWriteStream(file, { flags: 'wx' }), { signal });
        return true;
      } catch (error) {
        await rm(file, { force: true });
        signal.throwIfAborted();
        // A connection can break in the middle of a large object.
        if (attempt === COPY_ATTEMPTS) rethrowAsStorageError(error);
      }
    }
  }

  async size(name: string): Promise<number | undefined> {
    const key = this.#keyOf(name);
    try {
      const response = await this.#client.send({ method: 'HEAD', key });
      response.resume();
      return Number(response.headers['content-length']);
    } catch (error) {
      // The response to HEAD has no body, so it can't have a code.
      if (error instanceof S3Error && error.status === 404) return undefined;
      return rethrowAsStorageError(error);
    }
  }

  async get(name: string, range?: ObjectRange): Promise<StoredObject | undefined> {
    const key = this.#keyOf(name);
    const headers = range && { range: `bytes=${range.start}-${range.end}` };
    const response = await this.#get({ key, hasSlowReader: true, ...(headers && { headers }) });
    if (response === undefined) return undefined;
    if (range === undefined) return { bytes: Number(response.headers['content-length']), body: response };
    const [sent, total] = (response.headers['content-range'] ?? '').split('/');
    if (sent !== `bytes ${range.start}-${range.end}`) {
      response.destroy();
      rethrowAsStorageError(new Error('the storage service sent another range than it was asked for'));
    }
    return { bytes: Number(total), body: response };
  }

  async delete(name: string): Promise<void> {
    const key = this.#keyOf(name);
    try {
      await this.#client.sendForText({ method: 'DELETE', key });
    } catch (error) {
      if (!(error instanceof S3Error && error.isMissingObject)) rethrowAsStorageError(error);
    }
  }

  /** Lists the objects. Also aborts uploads that a crash left behind. */
  async *list(folder: string): AsyncGenerator<ObjectEntry> {
    const prefix = `${this.#prefix}${folder}/`;
    try {
      await this.#abortStaleUploads(prefix);
      let token: string | undefined;
      do {
        const query = { 'list-type': '2', prefix, ...(token !== undefined && { 'continuation-token': token }) };
        const page = await this.#client.sendForText({ method: 'GET', key: '', query });
        yield* entriesOf(page, this.#prefix);
        token = elementText(page, 'IsTruncated') === 'true' ? elementText(page, 'NextContinuationToken') : undefined;
      } while (token !== undefined);
    } catch (error) {
      rethrowAsStorageError(error);
    }
  }

  close(): void {
    this.#client.close();
  }

  async #get(request: Omit<S3Request, 'method'>): Promise<IncomingMessage | undefined> {
    try {
      return await this.#client.send({ method: 'GET', ...request });
    } catch (error) {
      request.signal?.throwIfAborted();
      if (error instanceof S3Error && error.isMissingObject) return undefined;
      return rethrowAsStorageError(error);
    }
  }

  /** Some services can't list uploads, but they remove old ones themselves. */
  async #abortStaleUploads(prefix: string): Promise<void> {
    let list: string;
    try {
      list = await this.#client.sendForText({ method: 'GET', key: '', query: { uploads: '', prefix } });
    } catch (error) {
      if (error instanceof S3Error && (error.status === 501 || error.code === 'NotImplemented')) return;
      throw error;
    }
    for (const upload of elements(list, 'Upload')) {
      const [key, uploadId] = [elementText(upload, 'Key'), elementText(upload, 'UploadId')];
      const initiated = Date.parse(elementText(upload, 'Initiated') ?? '');
      if (key === undefined || uploadId === undefined || !key.startsWith(prefix)) continue;
      if (Date.now() - initiated > this.#staleAfterMs) await abortUpload(this.#client, key, uploadId);
    }
  }

  #keyOf(name: string): string {
    assertObjectName(name);
    return `${this.#prefix}${name}`;
  }
}

/** Leaves out objects that this program didn't write. */
function* entriesOf(page: string, prefix: string): Generator<ObjectEntry> {
  for (const contents of elements(page, 'Contents')) {
    const name = (elementText(contents, 'Key') ?? '').slice(prefix.length);
    const modifiedAt = new Date(elementText(contents, 'LastModified') ?? '');
    if (isObjectName(name) && !Number.isNaN(modifiedAt.getTime())) yield { name, modifiedAt };
  }
}
