// Bodies without an uploaded file: JSON and urlencoded forms. They are small, so they are read into memory.

import type { IncomingMessage } from 'node:http';
import type { FormField } from '../../../engine/caption/field-reader.ts';
import { pointerTo } from '../../../engine/caption/quote.ts';
import { AppError, type FieldFault } from '../../../shared/errors.ts';
import { ExcessiveJson, parseJson } from '../../../shared/parse-json.ts';
import type { ReceivedForm } from '../../renders/received-form.ts';
import { MAX_PARTS } from './multipart.ts';

/** A request with a transcript. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
/** Requests with only short fields, and batches of them. */
export const MAX_SHORT_BODY_BYTES = 512 * 1024;

/** Refuses a body that is too large by its `content-length`, before it is sent. */
export function assertSmall({ headers }: IncomingMessage, maxBytes: number): void {
  const announced = Number(headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(announced, maxBytes);
}

export async function receiveJson(
  request: IncomingMessage,
  signal: AbortSignal,
  maxBytes: number,
): Promise<ReceivedForm> {
  const value = parseBody(await readText(request, signal, { encoding: 'JSON', maxBytes }));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed('JSON', "it isn't an object");
  const fields = Object.entries(value).map(([name, content]: [string, unknown]) => ({ name, value: content }));
  return { ...formOf(fields, 'JSON'), isJson: true };
}

export async function receiveUrlencoded(
  request: IncomingMessage,
  signal: AbortSignal,
  maxBytes: number,
): Promise<ReceivedForm> {
  const text = await readText(request, signal, { encoding: 'urlencoded', maxBytes });
  const faults: FieldFault[] = [];
  const fields: FormField[] = [];
  for (const pair of text.split('&', MAX_PARTS + 1).filter((part) => part !== '')) {
    const [name = '', ...value] = pair.split('=');
    try {
      fields.push({ name: decode(name), value: decode(value.join('=')) });
    } catch {
      const pointer = pointerTo(name);
      faults.push({ pointer, code: 'invalid_encoding', detail: "The field isn't valid percent-encoded UTF-8." });
    }
  }
  return { ...formOf(fields, 'urlencoded'), faults };
}

function formOf(fields: readonly FormField[], encoding: string): ReceivedForm {
  if (fields.length > MAX_PARTS) throw malformed(encoding, `it has more than ${MAX_PARTS} fields`);
  return { fields, faults: [], hasAsset: false, asset: undefined };
}

interface BodyKind {
  readonly encoding: string;
  readonly maxBytes: number;
}

async function readText(request: IncomingMessage, signal: AbortSignal, kind: BodyKind): Promise<string> {
  const { encoding } = kind;
  const bytes = await readBody(request, signal, kind);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw malformed(encoding, "it isn't valid UTF-8");
  }
}

async function readBody(
  request: IncomingMessage,
  signal: AbortSignal,
  { encoding, maxBytes }: BodyKind,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  signal.throwIfAborted();
  return await new Promise<Buffer>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else reject(tooLarge(size, maxBytes));
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', (error) => reject(malformed(encoding, 'it ends unexpectedly', error)));
  });
}

function parseBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const reason = error instanceof ExcessiveJson ? `it has ${error.message}` : "it isn't valid JSON";
    throw malformed('JSON', reason, error);
  }
}

function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

function malformed(encoding: string, reason: string, cause?: unknown): AppError {
  return new AppError('malformed_body', `The ${encoding} body is malformed: ${reason}.`, { cause });
}

function tooLarge(bytes: number, maxBytes: number): AppError {
  const detail = `The request body has ${bytes} bytes or more; the limit for this body without a file is ${maxBytes}.`;
  return new AppError('request_too_large', detail, { limit: { limit: maxBytes, actual: bytes } });
}
