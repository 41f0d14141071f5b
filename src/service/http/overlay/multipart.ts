// Reads a multipart body as a stream: the asset to disk, the fields to memory. It only reports what arrived, and
// `parse.ts` validates it.

import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { FormField } from '../../../engine/caption/field-reader.ts';
import { MAX_CAPTIONS_BYTES } from '../../../engine/caption/overlay.ts';
import { pointerTo } from '../../../engine/caption/quote.ts';
import { AppError, type FieldFault } from '../../../shared/errors.ts';
import { must } from '../../../shared/must.ts';
import type { ReceivedForm } from '../../renders/received-form.ts';
import { type AssetDestination, type ReceivedFile, receiveAsset } from '../../../engine/media/receive-asset.ts';

/** The maximum number of fields of a request, in any encoding. */
export const MAX_PARTS = 24;
const MAX_FIELD_BYTES = 64 * 1024;
/** The bytes that fields, part headers and boundaries may add to the size of the asset. */
const ENVELOPE_BYTES = 2 * 1024 * 1024;
/** One error is shared, because recording a stack trace takes time and would tell nothing here. */
const UPLOAD_ABORTED = new Error('upload aborted');

export async function receiveForm(
  request: IncomingMessage,
  destination: AssetDestination,
  signal: AbortSignal,
): Promise<ReceivedForm> {
  const parser = createParser(request);
  const collector = new PartCollector(destination);
  const streams: Readable[] = [];
  const parts: Promise<void>[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason as Error);
      signal.throwIfAborted();
      signal.addEventListener('abort', onAbort, { once: true });
      parser.on('file', (name, stream, filename) => {
        // An error without a listener would end the process.
        stream.on('error', () => undefined);
        streams.push(stream);
        const part = collector.take(name, stream, filename);
        part.catch(reject);
        parts.push(part);
      });
      parser.once('partsLimit', () => {
        // This comes before the rejection, because the parser throws when the stream ends inside a part that it skips.
        request.unpipe(parser);
        reject(malformed(`it has more than ${MAX_PARTS} parts`));
      });
      // The parser can emit several errors, and one without a listener would end the process.
      parser.on('error', (error) => reject(malformed('it ends unexpectedly', error)));
      parser.once('finish', () => resolve(Promise.all(parts).then(() => undefined)));
      parser.once('prefinish', () => void refuseIfStuck(parser, parts, reject));
      let received = 0;
      request.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received > destination.maxBytes + ENVELOPE_BYTES) reject(bodyTooLarge(received, destination.maxBytes));
      });
      request.once('error', reject);
      request.pipe(parser);
    });
  } finally {
    request.unpipe(parser);
    // After an early end, parts that still wait for bytes stop and close their files.
    for (const stream of streams) stream.destroy(UPLOAD_ABORTED);
    await Promise.allSettled(parts);
  }
  return collector.result();
}

/**
 * Called when the parser has all bytes. It finishes when every part has been read, except that it waits forever for a part that
 * ends inside its header.
 */
async function refuseIfStuck(
  parser: BusboyInstance,
  parts: readonly Promise<void>[],
  reject: (reason: AppError) => void,
): Promise<void> {
  let isFinished = false;
  parser.once('finish', () => {
    isFinished = true;
  });
  await Promise.allSettled(parts);
  await setImmediate();
  if (!isFinished) reject(malformed('the header of a part has no end'));
}

/** Refuses a body by its headers, before the upload: too large by its `content-length`, or without a boundary. */
export function assertMultipart({ headers }: IncomingMessage, maxAssetBytes: number): void {
  if (!/;\s*boundary=(?:"[^"]+"|[^\s";]+)/iu.test(headers['content-type'] ?? '')) {
    throw malformed('the boundary parameter is missing');
  }
  const announced = Number(headers['content-length'] ?? 0);
  if (announced > maxAssetBytes + ENVELOPE_BYTES) throw bodyTooLarge(announced, maxAssetBytes);
}

function bodyTooLarge(bytes: number, maxAssetBytes: number): AppError {
  const detail = `The request body has ${bytes} bytes or more; the limit for an asset is ${maxAssetBytes}.`;
  return new AppError('asset_too_large', detail, { limit: { limit: maxAssetBytes, actual: bytes } });
}

function createParser({ headers }: IncomingMessage): BusboyInstance {
  const contentType = must(headers['content-type'], 'the content type of a checked request');
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      // Fields are also read as streams, so that their bytes can be checked as UTF-8.
      isPartAFile: () => true,
      limits: { parts: MAX_PARTS, headerPairs: 32, headerSize: 16 * 1024 },
    });
  } catch (error) {
    throw malformed('the content type is invalid', error);
  }
}

/** Collects the parts of one body. */
class PartCollector {
  readonly #destination: AssetDestination;
  readonly #fields: FormField[] = [];
  readonly #faults: FieldFault[] = [];
  #asset: ReceivedFile | undefined;
  /** Set when the part starts, because a second one may arrive before the first is on disk. */
  #hasAssetStarted = false;

  constructor(destination: AssetDestination) {
    this.#destination = destination;
  }

  async take(name: string | undefined, stream: Readable, filename: string | undefined): Promise<void> {
    try {
      if (name === 'asset') await this.#takeAsset(stream, filename);
      else await this.#takeField(name ?? '', stream);
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw malformed('a part ends unexpectedly', error);
    }
  }

  result(): ReceivedForm {
    return { fields: this.#fields, faults: this.#faults, hasAsset: this.#asset !== undefined, asset: this.#asset };
  }

  async #takeAsset(stream: Readable, filename: string | undefined): Promise<void> {
    if (this.#hasAssetStarted) {
      this.#faults.push({ pointer: '#/asset', code: 'duplicate', detail: 'Send only one asset.' });
      stream.resume();
      return;
    }
    this.#hasAssetStarted = true;
    const asset = await receiveAsset(stream, this.#destination);
    // A browser form without a chosen file sends an empty part without a file name, which isn't an asset.
    if (asset.bytes > 0 || (filename ?? '') !== '') this.#asset = asset;
  }

  async #takeField(name: string, stream: Readable): Promise<void> {
    const pointer = pointerTo(name);
    const chunks: Buffer[] = [];
    const maxBytes = name === 'captions' ? MAX_CAPTIONS_BYTES : MAX_FIELD_BYTES;
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
    }
    if (size > maxBytes) {
      const detail = `The field is ${size} bytes long; the limit is ${maxBytes}.`;
      this.#faults.push({ pointer, code: 'too_large', detail });
      return;
    }
    try {
      this.#fields.push({ name, value: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)) });
    } catch {
      this.#faults.push({ pointer, code: 'invalid_encoding', detail: 'The field is not valid UTF-8.' });
    }
  }
}

function malformed(reason: string, cause?: unknown): AppError {
  return new AppError('malformed_body', `The multipart body is malformed: ${reason}.`, { cause });
}
