// The multipart body, streamed: the asset to disk, the fields to memory, limits held while bytes arrive. Says what came,
// not whether it makes sense.

import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { type Form, type FormField, pointerTo } from '../../caption/form.ts';
import { AppError, type FieldFault } from '../../errors.ts';
import { type AssetDestination, type ReceivedAsset, receiveAsset } from './receive-asset.ts';

export interface ReceivedForm extends Form {
  readonly asset: ReceivedAsset | undefined;
}

const MAX_PARTS = 24;
const MAX_FIELD_BYTES = 64 * 1024;
/** What fields, part headers and boundaries may add to the asset. */
const ENVELOPE_BYTES = 2 * 1024 * 1024;

/** `onAccepted` is called when the headers are in order and the body may come. */
export async function receiveForm(
  request: IncomingMessage,
  destination: AssetDestination,
  signal: AbortSignal,
  onAccepted: () => void,
): Promise<ReceivedForm> {
  refuseOversize(request, destination.maxBytes);
  const parser = createParser(request);
  onAccepted();
  const reception = new Reception(destination);
  const streams: Readable[] = [];
  const parts: Promise<void>[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason as Error);
      signal.throwIfAborted();
      signal.addEventListener('abort', onAbort, { once: true });
      parser.on('file', (name, stream, filename) => {
        // An error that nobody listens to would end the process.
        stream.on('error', () => undefined);
        streams.push(stream);
        const part = reception.take(name, stream, filename);
        part.catch(reject);
        parts.push(part);
      });
      parser.once('partsLimit', () => {
        // Now, not after the rejection: told of an early end, the parser throws for a part it skips.
        request.unpipe(parser);
        reject(malformed(`it has more than ${MAX_PARTS} parts`));
      });
      // More than one error can come, and one without a listener would end the process.
      parser.on('error', (error) => reject(malformed('it ends or breaks off unexpectedly', error)));
      parser.once('finish', () => resolve(Promise.all(parts).then(() => undefined)));
      request.once('error', reject);
      request.pipe(parser);
    });
  } finally {
    request.unpipe(parser);
    // Given up in the middle: whoever waits for the rest of a part stops, and closes its file.
    for (const stream of streams) stream.destroy(new Error('the upload was given up'));
    await Promise.allSettled(parts);
  }
  return reception.result();
}

/** Too large whatever is inside: said before the upload, not after it. */
function refuseOversize(request: IncomingMessage, maxAssetBytes: number): void {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced <= maxAssetBytes + ENVELOPE_BYTES) return;
  const detail = `The request announces ${announced} bytes; an asset may have at most ${maxAssetBytes}.`;
  throw new AppError('asset_too_large', detail, { limit: { limit: maxAssetBytes, actual: announced } });
}

function createParser({ headers }: IncomingMessage): BusboyInstance {
  const contentType = headers['content-type'] ?? '';
  if (!/^multipart\/form-data(?:$|[\s;])/iu.test(contentType)) {
    throw new AppError('unsupported_content_type', 'Send the request as multipart/form-data.');
  }
  if (!/;\s*boundary=(?:"[^"]+"|[^\s";]+)/iu.test(contentType)) throw malformed('its boundary is missing');
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': contentType },
      // Every part is a stream to us: fields too, so that their bytes are checked before they become text.
      isPartAFile: () => true,
      limits: { parts: MAX_PARTS, headerPairs: 32, headerSize: 16 * 1024 },
    });
  } catch (error) {
    throw malformed('its content type cannot be read', error);
  }
}

/** Collects the parts of one body. */
class Reception {
  readonly #destination: AssetDestination;
  readonly #fields: FormField[] = [];
  readonly #faults: FieldFault[] = [];
  #asset: ReceivedAsset | undefined;
  /** Set when its part begins: a second one may arrive before the first is on disk. */
  #assetBegun = false;

  constructor(destination: AssetDestination) {
    this.#destination = destination;
  }

  async take(name: string | undefined, stream: Readable, filename: string | undefined): Promise<void> {
    try {
      if (name === 'asset') await this.#takeAsset(stream, filename);
      else await this.#takeField(name ?? '', stream);
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw malformed('a part breaks off unexpectedly', error);
    }
  }

  result(): ReceivedForm {
    return { fields: this.#fields, faults: this.#faults, hasAsset: this.#asset !== undefined, asset: this.#asset };
  }

  async #takeAsset(stream: Readable, filename: string | undefined): Promise<void> {
    if (this.#assetBegun) {
      this.#faults.push({ pointer: '#/asset', code: 'duplicate', detail: 'Send one asset.' });
      stream.resume();
      return;
    }
    this.#assetBegun = true;
    const asset = await receiveAsset(stream, this.#destination);
    // A browser form with no file chosen sends an empty part without a name: that is no asset.
    if (asset.bytes > 0 || (filename ?? '') !== '') this.#asset = asset;
  }

  async #takeField(name: string, stream: Readable): Promise<void> {
    const pointer = pointerTo(name);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= MAX_FIELD_BYTES) chunks.push(chunk);
    }
    if (size > MAX_FIELD_BYTES) {
      const detail = `The field has ${size} bytes; the limit is ${MAX_FIELD_BYTES}.`;
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
  return new AppError('malformed_body', `The multipart body cannot be read: ${reason}.`, { cause });
}
