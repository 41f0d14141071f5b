// Every error code on the wire: its status, its title and what a caller should do. `satisfies Record` makes a forgotten
// code a compile error; docs/errors.md and the page behind each problem's `type` are written from this table.

import type { ErrorCode } from '../../errors.ts';

export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  readonly advice: string;
}

export const PROBLEMS = {
  malformed_body: {
    status: 400,
    title: 'Malformed request body',
    advice: 'The multipart body is broken or incomplete. Let your HTTP client build it and set the content type.',
  },
  invalid_idempotency_key: {
    status: 400,
    title: 'Invalid idempotency key',
    advice: 'Send 1 to 255 printable ASCII characters in `idempotency-key`, a UUID for example.',
  },
  invalid_fields: {
    status: 400,
    title: 'Invalid fields',
    advice: '`errors` lists every fault with a pointer to the field. Correct them all and send again.',
  },
  invalid_signature: {
    status: 400,
    title: 'Signature invalid',
    advice: 'For the payment provider: the event is not signed with a secret of this service, or too long ago.',
  },
  missing_api_key: {
    status: 401,
    title: 'API key missing',
    advice: 'Send your key in the `x-api-key` header.',
  },
  invalid_api_key: {
    status: 401,
    title: 'API key invalid',
    advice: 'The key is mistyped, unknown or revoked. Check it, or create a new one.',
  },
  marketplace_refused: {
    status: 401,
    title: 'Not from the marketplace',
    advice:
      'A marketplace key works at the marketplace only: send the request to its host. Or use a key of your own in `x-api-key`.',
  },
  payment_failed: {
    status: 402,
    title: 'Payment failed',
    advice: 'The payment was refused; `detail` says why. Use another means of payment.',
  },
  subscription_inactive: {
    status: 403,
    title: 'Subscription inactive',
    advice: 'The account behind the key has no active subscription. Subscribe to a plan.',
  },
  key_suspended: {
    status: 403,
    title: 'Suspended',
    advice: 'The key or its account is suspended. Ask the operator of the service.',
  },
  origin_not_allowed: {
    status: 403,
    title: 'Origin not allowed',
    advice:
      'The key lists the origins of pages that may use it, and this page has another. Add it to the key, or use another key.',
  },
  form_refused: {
    status: 403,
    title: 'Form refused',
    advice:
      'On pages of the site only: the form was not sent by a page of ours, or is too old. Reload the page and send it again.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    advice: 'There is nothing at this path. Renders are made by `POST /v1/overlay`.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    advice: 'The path exists, but not for this method; see the `allow` header.',
  },
  upload_too_slow: {
    status: 408,
    title: 'Upload too slow',
    advice: 'The request came slower than the service waits for. Check the connection, or send a smaller asset.',
  },
  idempotency_in_flight: {
    status: 409,
    title: 'Still being rendered',
    advice: 'A request with the same `idempotency-key` is under way. Try again after `retry-after` seconds.',
  },
  asset_too_large: {
    status: 413,
    title: 'Asset too large',
    advice: 'The file has more bytes than your plan allows; `limit` and `actual` say how many.',
  },
  asset_too_many_pixels: {
    status: 413,
    title: 'Too many pixels',
    advice: 'The picture is larger than your plan allows; `limit` and `actual` are pixels. Scale it down.',
  },
  asset_dimensions_too_large: {
    status: 413,
    title: 'Side too long',
    advice:
      'The longer side of the picture or video has more pixels than is allowed; `limit` and `actual` are pixels. Scale it down.',
  },
  asset_too_long: {
    status: 413,
    title: 'Video too long',
    advice: 'The video lasts longer than your plan allows; `limit` and `actual` are seconds. Cut it.',
  },
  asset_frame_rate_too_high: {
    status: 413,
    title: 'Frame rate too high',
    advice: 'The video has more frames per second than your plan allows; `limit` and `actual` say how many.',
  },
  unsupported_content_type: {
    status: 415,
    title: 'Unsupported content type',
    advice: 'Send the request as `multipart/form-data`.',
  },
  unsupported_asset: {
    status: 415,
    title: 'Unsupported asset',
    advice:
      'The file, judged by its bytes, is not JPEG, PNG, WebP, MP4, MOV or WebM. Its name and declared type do not matter.',
  },
  idempotency_mismatch: {
    status: 422,
    title: 'Idempotency key used before',
    advice: 'The `idempotency-key` belongs to a request with other fields or another asset. Use a new one.',
  },
  asset_undecodable: {
    status: 422,
    title: 'Asset cannot be decoded',
    advice: 'The file is of a supported type but damaged. Export it again.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    advice:
      'More requests than are allowed in this time; `ratelimit` says how many. Try again after `retry-after` seconds.',
  },
  too_many_renders: {
    status: 429,
    title: 'Too many renders at once',
    advice: 'The plan allows so many renders at the same time. Wait for one of yours to finish.',
  },
  quota_exceeded: {
    status: 429,
    title: 'Credits used up',
    advice: 'The credits of the period are not enough for this render; `renewsAt` says when there are new ones.',
  },
  too_many_failed_keys: {
    status: 429,
    title: 'Too many invalid keys',
    advice: 'This address sent too many invalid keys. Check the key, and try again after `retry-after` seconds.',
  },
  client_closed: {
    status: 499,
    title: 'Client closed the request',
    advice: 'Appears in logs only: the caller went away before the answer.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    advice: 'A fault of the service. Try again; if it persists, report `instance` to the operator.',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    advice: 'Too many renders at once. Try again after `retry-after` seconds.',
  },
  renderer_unavailable: {
    status: 503,
    title: 'Renderer unavailable',
    advice: 'The render was interrupted. Try again after `retry-after` seconds.',
  },
  storage_unavailable: {
    status: 503,
    title: 'Storage unavailable',
    advice:
      'The service has no room for the file, or cannot reach its database. Try again after `retry-after` seconds.',
  },
  payment_unavailable: {
    status: 503,
    title: 'Payments unavailable',
    advice: 'The payment provider does not answer. Nothing was changed by us. Try again after `retry-after` seconds.',
  },
  shutting_down: {
    status: 503,
    title: 'Shutting down',
    advice: 'This server is about to stop. Try again; another one will answer.',
  },
  deadline_exceeded: {
    status: 504,
    title: 'Deadline exceeded',
    advice: 'The render took longer than the service allows. Send a smaller asset.',
  },
} as const satisfies Record<ErrorCode, ProblemKind>;
