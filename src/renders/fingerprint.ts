// Decides whether two requests with the same idempotency key are the same request.

import { createHash } from 'node:crypto';
import { publicPartOf } from '../caption/put-fields.ts';
import type { ReceivedForm } from './received-form.ts';

type RequestContent = Pick<ReceivedForm, 'fields' | 'asset'>;

/** Returns the same fingerprint for fields in any order. It covers the bytes of the asset. */
export function fingerprint({ fields, asset }: RequestContent): string {
  const counted = fields.filter(({ name }) => name !== 'put_headers');
  const pairs = counted.map(({ name, value }) => JSON.stringify([name, value], withoutSignature(name))).toSorted();
  return createHash('sha256')
    .update(JSON.stringify([pairs, asset?.sha256 ?? null]))
    .digest('hex');
}

/**
 * Every try has a presigned URL with another signature, so neither its query nor `put_headers` count, which may have a part of
 * the signature. A batch has them in each request.
 */
function withoutSignature(field: string): (key: string, value: unknown) => unknown {
  return (key, value) => {
    if (field === 'requests' && key === 'put_headers') return undefined;
    return isPutUrl(field, key) && typeof value === 'string' ? publicPartOf(value) : value;
  };
}

/** The value of the field is the second item of its pair. */
function isPutUrl(field: string, key: string): boolean {
  return field === 'put_url' ? key === '1' : field === 'requests' && key === 'put_url';
}

/**
 * The fingerprint is the same for `async` and for the `prefer` header, and different from that of a request that waits
 * for its render.
 */
export function asyncFingerprint({ fields, asset }: RequestContent): string {
  return fingerprint({ fields: [...withoutAsync(fields), { name: 'async', value: true }], asset });
}

/** Returns the fingerprint of the same request if it waited for its render. */
export function waitingFingerprint({ fields, asset }: RequestContent): string {
  return fingerprint({ fields: withoutAsync(fields), asset });
}

function withoutAsync(fields: ReceivedForm['fields']): ReceivedForm['fields'] {
  return fields.filter(({ name }) => name !== 'async');
}
