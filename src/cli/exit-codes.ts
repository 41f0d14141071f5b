import type { ErrorCode } from '../errors.ts';

/** The command line is wrong. The message says what is wrong and what to write instead. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Ends a command with a code and an exit code of its own. */
export class CommandFailure extends Error {
  readonly code: string;
  readonly exit: number;
  readonly faults: readonly string[];
  readonly status: number | undefined;

  constructor(message: string, { code, exit, faults = [], status }: FailureFacts) {
    super(message);
    this.name = 'CommandFailure';
    this.code = code;
    this.exit = exit;
    this.faults = faults;
    this.status = status;
  }
}

export interface FailureFacts {
  readonly code: string;
  readonly exit: number;
  readonly faults?: readonly string[];
  /** The status of the response, if a server reported the failure. */
  readonly status?: number | undefined;
}

/**
 * Exit codes of sysexits(3): 64 usage, 65 bad data, 69 unavailable, 70 internal error, 77 no permission, 78
 * configuration.
 */
export const EXIT_CODES = {
  usage: 64,
  settings: 78,
  malformed_body: 65,
  invalid_fields: 65,
  missing_api_key: 77,
  invalid_api_key: 77,
  invalid_signature: 77,
  payment_failed: 69,
  payment_unavailable: 69,
  subscription_inactive: 77,
  key_suspended: 77,
  approval_required: 77,
  origin_not_allowed: 77,
  form_refused: 77,
  role_not_allowed: 77,
  marketplace_refused: 77,
  too_many_failed_keys: 77,
  too_many_failures: 69,
  rate_limited: 69,
  too_many_renders: 69,
  quota_exceeded: 69,
  invalid_idempotency_key: 64,
  idempotency_in_flight: 69,
  idempotency_mismatch: 65,
  not_found: 65,
  async_disabled: 64,
  async_not_allowed: 77,
  render_not_found: 65,
  result_expired: 65,
  range_not_satisfiable: 65,
  too_many_queued: 69,
  stored_bytes_exceeded: 69,
  test_renders_exceeded: 69,
  server_key_required: 77,
  style_not_found: 65,
  too_many_styles: 69,
  brand_files_disabled: 69,
  logo_not_found: 65,
  too_many_logos: 69,
  font_not_found: 65,
  too_many_fonts: 69,
  webhook_not_found: 65,
  webhook_disabled: 65,
  too_many_webhooks: 69,
  method_not_allowed: 64,
  upload_too_slow: 69,
  unsupported_content_type: 65,
  unsupported_asset: 65,
  request_too_large: 65,
  asset_too_large: 65,
  asset_too_many_pixels: 65,
  asset_dimensions_too_large: 65,
  asset_too_long: 65,
  asset_frame_rate_too_high: 65,
  asset_too_heavy: 65,
  at_out_of_range: 65,
  cannot_fit: 65,
  asset_undecodable: 65,
  asset_unreachable: 69,
  delivery_failed: 69,
  transcription_disabled: 69,
  transcription_failed: 69,
  no_sound: 65,
  no_speech: 65,
  strict_warnings: 65,
  internal_error: 70,
  overloaded: 69,
  out_of_memory: 69,
  renderer_unavailable: 69,
  storage_unavailable: 69,
  storage_full: 69,
  shutting_down: 69,
  deadline_exceeded: 69,
  client_closed: 70,
} as const satisfies Record<ErrorCode | 'usage' | 'settings', number>;
