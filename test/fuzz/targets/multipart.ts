// Bodies of multipart requests, as they arrive in chunks of any size.

import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../../src/shared/errors.ts';
import { receiveForm } from '../../../src/service/http/overlay/multipart.ts';
import { check } from '../check.ts';

const MAX_BYTES = 100_000;
/** All bytes are there, so it takes milliseconds. */
const MAX_MS = 5_000;
const headers = { 'content-type': 'multipart/form-data; boundary=X' };
const destination = {
  path: '/nonexistent/asset',
  prepare: async () => undefined,
  maxBytes: MAX_BYTES,
  maxBytesOf: () => MAX_BYTES,
  reserve: () => undefined,
  hash: true,
};

/**
 * The first byte is the size of the chunks. The result is the same as if the body had arrived at once, except that a part that ends
 * inside its header may be skipped or make the body malformed.
 */
export async function fuzz(input: Buffer): Promise<void> {
  const body = input.subarray(1);
  const [whole, chunked] = [await outcome([body]), await outcome(chunksOf(body, 1 + (input[0] ?? 0)))];
  if (whole === 'malformed_body' || chunked === 'malformed_body') return;
  check(isDeepStrictEqual(whole, chunked), `chunks don't matter: ${JSON.stringify([whole, chunked])}`);
}

async function outcome(chunks: readonly Buffer[]): Promise<unknown> {
  const request = Object.assign(Readable.from(chunks, { objectMode: false }), {
    headers,
  }) as unknown as IncomingMessage;
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new Error('violated: a complete body is accepted or refused')),
    MAX_MS,
  );
  try {
    const { fields, faults, asset } = await receiveForm(request, destination, controller.signal);
    return { fields, faults, bytes: asset?.bytes, format: asset?.format, sha256: asset?.sha256 };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.code;
  } finally {
    clearTimeout(timer);
  }
}

function chunksOf(body: Buffer, size: number): Buffer[] {
  const count = Math.ceil(body.length / size);
  return Array.from({ length: count }, (_, index) => body.subarray(index * size, (index + 1) * size));
}
