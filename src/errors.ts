// Every way a request or a command can fail, as a closed set. Nothing here knows HTTP or the terminal: the status codes
// and exit codes are tables elsewhere, typed `Record<ErrorCode, ...>`, so a code added here and forgotten there does not
// compile. Callers branch on `code`, never on message text.

export type ErrorCode =
  | 'malformed_body'
  | 'invalid_fields'
  | 'missing_api_key'
  | 'invalid_api_key'
  | 'invalid_signature'
  | 'payment_failed'
  | 'payment_unavailable'
  | 'subscription_inactive'
  | 'key_suspended'
  | 'origin_not_allowed'
  | 'form_refused'
  | 'marketplace_refused'
  | 'too_many_failed_keys'
  | 'rate_limited'
  | 'too_many_renders'
  | 'quota_exceeded'
  | 'invalid_idempotency_key'
  | 'idempotency_in_flight'
  | 'idempotency_mismatch'
  | 'not_found'
  | 'method_not_allowed'
  | 'upload_too_slow'
  | 'unsupported_content_type'
  | 'unsupported_asset'
  | 'asset_too_large'
  | 'asset_too_many_pixels'
  | 'asset_dimensions_too_large'
  | 'asset_too_long'
  | 'asset_frame_rate_too_high'
  | 'asset_undecodable'
  | 'internal_error'
  | 'overloaded'
  | 'renderer_unavailable'
  | 'storage_unavailable'
  | 'shutting_down'
  | 'deadline_exceeded'
  | 'client_closed';

/** What is wrong with one field. */
export type FaultCode =
  | 'required'
  | 'blank'
  | 'too_long'
  | 'too_large'
  | 'too_many'
  | 'out_of_range'
  | 'not_an_integer'
  | 'wrong_type'
  | 'invalid_json'
  | 'invalid_encoding'
  | 'conflict'
  | 'duplicate'
  | 'unknown_field';

export interface FieldFault {
  /** JSON pointer into the request as a fragment, e.g. `#/overlays/1/position`. */
  readonly pointer: string;
  readonly code: FaultCode;
  readonly detail: string;
}

interface AppErrorOptions {
  readonly faults?: readonly FieldFault[];
  /** The limit that was passed and the value that passed it, for 413 and quotas. */
  readonly limit?: { readonly limit: number; readonly actual: number };
  readonly retryAfterSeconds?: number;
  /** When the credits of the account renew, for a quota. */
  readonly renewsAt?: Date;
  readonly cause?: unknown;
}

/** An error whose message is written for the caller. Anything else that is thrown is a bug and answers `internal_error`. */
/** What a crowd is told. Nobody asks where in the code that was decided, and finding out costs as much as the rest of it. */
const CROWD_CODES: ReadonlySet<ErrorCode> = new Set([
  'overloaded',
  'rate_limited',
  'too_many_renders',
  'too_many_failed_keys',
]);

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly faults: readonly FieldFault[];
  readonly limit: { readonly limit: number; readonly actual: number } | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly renewsAt: Date | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    const { stackTraceLimit } = Error;
    if (CROWD_CODES.has(code)) Error.stackTraceLimit = 0;
    super(message, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'AppError';
    this.code = code;
    this.faults = options.faults ?? [];
    this.limit = options.limit;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.renewsAt = options.renewsAt;
  }
}
