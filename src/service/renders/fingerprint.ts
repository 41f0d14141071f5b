// Decides whether two requests with the same idempotency key are the same request.

import { createHash } from 'node:crypto';
import { publicPartOf } from '../../engine/caption/put-fields.ts';
import type { ReadRequest } from './received-form.ts';

type RequestContent = Pick<ReadRequest, 'values' | 'asset'>;

/**
 * The fingerprint is the same for `async` and for the `prefer` header, and different from that of a request that waits
 * for its render.
 */
export function asyncFingerprint(request: RequestContent): string {
  return hashOf(['async', contentOf(request)]);
}

export function batchFingerprint(requests: readonly RequestContent[]): string {
  return hashOf(['batch', ...requests.map(contentOf)]);
}

/** Returns the fingerprint of the same request if it waits for its render. */
export function waitingFingerprint(request: RequestContent): string {
  return hashOf(['waiting', contentOf(request)]);
}

/**
 * Every try has a presigned URL with another signature, so neither the query of `put_url` nor `put_headers` count, which may
 * have a part of the signature.
 */
function contentOf({ values, asset }: RequestContent): unknown {
  const { async: _async, put_url: put, put_headers: _headers, ...others } = values;
  return [others, put === undefined ? null : publicPartOf(put), asset?.sha256 ?? null];
}

/** Values are in the order of the table of fields. Captions may have a megabyte, so the keys of objects aren't sorted. */
function hashOf(content: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
