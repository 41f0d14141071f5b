// The error messages for callers when a file can't be fetched.

import { AppError } from '../../shared/errors.ts';

/** Error codes of Node for the most common failures, and our own. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "the host name doesn't exist",
  ENODATA: "the host name doesn't exist",
  EAI_AGAIN: "the host name can't be looked up right now",
  ETIMEOUT: "the host name can't be looked up right now",
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before the response was complete',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: "the host can't be reached",
  ENETUNREACH: "the host can't be reached",
  HPE_HEADER_OVERFLOW: 'its response headers are too long',
  TOO_MUCH_BEFORE_RESPONSE: 'it sends too many informational responses or too many bytes before its response',
};

export function unreachable(
  detail: string,
  options: { readonly upstreamStatus?: number; readonly cause?: unknown } = {},
): AppError {
  return new AppError('asset_unreachable', detail, options);
}

/** Our own errors stay as they are. */
export function failureOf(error: unknown, { host }: URL): AppError {
  if (error instanceof AppError) return error;
  return unreachable(`The file can't be fetched from ${host}: ${failureReason(error)}.`, { cause: error });
}

/** Returns why a connection failed, as part of a sentence. */
export function failureReason(error: unknown): string {
  const code = codeOf(error);
  const known = REASONS[code];
  if (known !== undefined) return known;
  if (code.startsWith('HPE_')) return `its response isn't valid HTTP (${code})`;
  if (/CERT|SSL|TLS|SELF_SIGNED|EPROTO/u.test(code)) return `the TLS connection failed (${code})`;
  return code === '' ? 'the connection was closed' : `the connection failed (${code})`;
}

/** With several addresses, Node reports the failures of all of them. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
