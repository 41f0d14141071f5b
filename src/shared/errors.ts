// Errors for the caller. Code branches on `code`, never on the message.

import type { ErrorCode } from './error-table.ts';

/** The fault of a field. */
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
  | 'invalid_language'
  | 'invalid_format'
  | 'invalid_choice'
  | 'invalid_color'
  | 'invalid_captions'
  | 'unknown_style'
  | 'unknown_font'
  | 'unknown_logo'
  | 'conflict'
  | 'duplicate'
  | 'unknown_field'
  | 'invalid_url'
  | 'forbidden_address';

export interface FieldFault {
  /** JSON pointer into the request, as a URL fragment such as `#/overlays/1/position`. */
  readonly pointer: string;
  readonly code: FaultCode;
  readonly detail: string;
}

interface AppErrorOptions {
  readonly faults?: readonly FieldFault[];
  /** The exceeded limit and the actual value, for 413 and quotas. */
  readonly limit?: { readonly limit: number; readonly actual: number };
  readonly retryAfterSeconds?: number;
  /** When the account's credits renew, for quotas. */
  readonly renewsAt?: Date;
  /** The status of another server's response, for assets that can't be fetched and files that can't be sent. */
  readonly upstreamStatus?: number;
  /** The warnings that `strict` refused. */
  readonly warnings?: readonly string[];
  /** True if the render was charged all the same. */
  readonly isCharged?: boolean;
  /** True if the render itself used up its time, and not the queue or a busy machine. It counts against the account. */
  readonly usedUpTime?: boolean;
  readonly cause?: unknown;
}

/** Errors that an overloaded server throws at a high rate. Capturing a stack trace would double their cost. */
const CODES_WITHOUT_STACK: ReadonlySet<ErrorCode> = new Set([
  'overloaded',
  'rate_limited',
  'too_many_renders',
  'too_many_failed_keys',
  'too_many_failures',
]);

/** An error whose message is meant for the client. Any other error is a bug and is reported as `internal_error`. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly faults: readonly FieldFault[];
  readonly limit: { readonly limit: number; readonly actual: number } | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly renewsAt: Date | undefined;
  readonly upstreamStatus: number | undefined;
  readonly warnings: readonly string[];
  readonly isCharged: boolean;
  readonly usedUpTime: boolean;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    const { stackTraceLimit } = Error;
    if (CODES_WITHOUT_STACK.has(code)) Error.stackTraceLimit = 0;
    super(message, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'AppError';
    this.code = code;
    this.faults = options.faults ?? [];
    this.limit = options.limit;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.renewsAt = options.renewsAt;
    this.upstreamStatus = options.upstreamStatus;
    this.warnings = options.warnings ?? [];
    this.isCharged = options.isCharged ?? false;
    this.usedUpTime = options.usedUpTime ?? false;
  }
}

/** An error that isn't an `AppError` is a bug. */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError('internal_error', 'Something went wrong on our side.', { cause: error });
}

/** All faults of a request in one error. */
export function invalidFields(faults: readonly FieldFault[]): AppError {
  const [first] = faults;
  const summary = faults.length === 1 && first ? first.detail : `The request has ${faults.length} errors.`;
  return new AppError('invalid_fields', summary, { faults });
}
