import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../../shared/errors.ts';

const KEY = /^[\x20-\x7e]{1,255}$/u;

/** Returns undefined without the header. Quotes around the key, which the IETF draft requires, make no difference. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const value = headers['idempotency-key'];
  if (value === undefined) return undefined;
  const key = typeof value === 'string' ? value.trim().replace(/^"(?<inner>.*)"$/u, '$<inner>') : '';
  if (KEY.test(key)) return key;
  throw new AppError('invalid_idempotency_key', 'The idempotency key must be 1 to 255 printable ASCII characters.');
}
