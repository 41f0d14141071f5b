// Uploads a local file: in one request, or in parts when it is large. A part that fails is sent again without the others, and
// an upload that fails is aborted, because its parts would take up space although no object has them.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { Semaphore } from '../../../shared/semaphore.ts';
import type { S3Body, S3Client } from './s3-client.ts';
import { S3Error } from './s3-error.ts';
import { elementText, escapeXml } from './s3-xml.ts';

const PART_BYTES = 16 * 1024 * 1024;
/** S3 itself allows 10,000. */
const MAX_PARTS = 9_000;
const PARALLEL_PARTS = 3;

interface FileUpload {
  readonly key: string;
  readonly file: string;
  readonly signal: AbortSignal | undefined;
}

export async function uploadFile(client: S3Client, upload: FileUpload): Promise<void> {
  const { key, file, signal } = upload;
  const { size } = await stat(file);
  if (size > PART_BYTES) return await uploadInParts(client, upload, size);
  const body = await bodyOf(file, 0, size);
  await client.sendForText({ method: 'PUT', key, body, ...(signal && { signal }) });
}

async function uploadInParts(client: S3Client, { key, file, signal }: FileUpload, size: number): Promise<void> {
  const created = await client.sendForText({ method: 'POST', key, query: { uploads: '' }, ...(signal && { signal }) });
  const uploadId = elementText(created, 'UploadId');
  if (uploadId === undefined) throw new Error('the storage service created an upload without an id');
  try {
    const tags = await sendParts(client, { key, uploadId, file, size, signal });
    await complete(client, { key, uploadId, tags, size });
  } catch (error) {
    // The sweep aborts uploads that can't be aborted now.
    await abortUpload(client, key, uploadId).catch(() => undefined);
    throw error;
  }
}

export async function abortUpload(client: S3Client, key: string, uploadId: string): Promise<void> {
  try {
    await client.sendForText({ method: 'DELETE', key, query: { uploadId } });
  } catch (error) {
    if (!(error instanceof S3Error && error.status === 404)) throw error;
  }
}

interface PartedFile {
  readonly key: string;
  readonly uploadId: string;
  readonly file: string;
  readonly size: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Returns the tags of the parts in order. When one fails, waits for those in flight, so that none arrives after an
 * abort.
 */
async function sendParts(client: S3Client, { key, uploadId, file, size, signal }: PartedFile): Promise<string[]> {
  const partBytes = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS));
  const slots = new Semaphore({ permits: PARALLEL_PARTS });
  const failed = new AbortController();
  const stopped = AbortSignal.any([failed.signal, ...(signal ? [signal] : [])]);
  const sendPart = async (index: number): Promise<string> => {
    try {
      stopped.throwIfAborted();
      const body = await bodyOf(file, index * partBytes, Math.min(size, (index + 1) * partBytes));
      const query = { partNumber: String(index + 1), uploadId };
      const response = await client.send({ method: 'PUT', key, query, body, signal: stopped });
      await finished(response.resume());
      if (response.headers.etag === undefined) throw new Error('the storage service sent no ETag for a part');
      return response.headers.etag;
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  const numbers = Array.from({ length: Math.ceil(size / partBytes) }, (_, index) => index);
  const sent = await Promise.allSettled(
    numbers.map(async (index) => await slots.run(async () => await sendPart(index))),
  );
  stopped.throwIfAborted();
  return sent.flatMap((part) => (part.status === 'fulfilled' ? [part.value] : []));
}

interface PartedUpload {
  readonly key: string;
  readonly uploadId: string;
  readonly tags: readonly string[];
  readonly size: number;
}

async function complete(client: S3Client, { key, uploadId, tags, size }: PartedUpload): Promise<void> {
  const parts = tags.map(
    (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
  );
  const xml = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
  const body: S3Body = {
    bytes: xml.length,
    sha256: createHash('sha256').update(xml).digest('hex'),
    open: () => Readable.from([xml]),
  };
  try {
    const headers = { 'content-type': 'application/xml' };
    const completed = await client.sendForText({ method: 'POST', key, query: { uploadId }, headers, body });
    // The service may begin its response before it knows how the request ends.
    if (completed.includes('<Error>')) throw S3Error.of(500, {}, completed);
  } catch (error) {
    // The response to an earlier attempt may have been lost. Then the object exists.
    if (!(error instanceof S3Error && error.status === 404)) throw error;
    const response = await client.send({ method: 'HEAD', key });
    response.resume();
    if (Number(response.headers['content-length']) !== size) throw error;
  }
}

/** A part of the file, which is read once for its hash and again when it is sent. */
async function bodyOf(file: string, start: number, end: number): Promise<S3Body> {
  const open = (): Readable => (end === start ? Readable.from([]) : createReadStream(file, { start, end: end - 1 }));
  const hash = createHash('sha256');
  for await (const chunk of open() as AsyncIterable<Buffer>) hash.update(chunk);
  return { bytes: end - start, sha256: hash.digest('hex'), open };
}
