// Decides whether two requests with the same idempotency key are the same request.

import { createHash } from 'node:crypto';
import { isObject } from '../caption/check.ts';
import { publicPartOf } from '../caption/put-fields.ts';
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

/** The order of keys doesn't count. */
function hashOf(content: unknown): string {
  const json = JSON.stringify(content, (_key, value: unknown) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(json).digest('hex');
}
