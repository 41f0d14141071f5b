// Every way in which a request or a command can fail, one row each. docs/errors.md, the page that each problem's `type` links to,
// the statuses of the API and the exit codes of the command line come from this table.

interface ErrorKind {
  /** The HTTP status. */
  readonly status: number;
  /** The exit code of a command, from sysexits(3): 64 usage, 65 bad data, 69 unavailable, 70 internal error, 77 no permission. */
  readonly exit: 64 | 65 | 69 | 70 | 77;
  readonly title: string;
  /** What the caller can do about it. */
  readonly advice: string;
  /** A failure of this service that may be over soon, so an asynchronous render is tried again. */
  readonly isTemporary?: true;
  /** The detail is about the asset or the transfer and quotes nothing from the form, so it is logged. */
  readonly logsDetail?: true;
}

const TABLE = {
  malformed_body: {
    status: 400,
    exit: 65,
    title: 'Malformed request body',
    advice: 'The body is invalid or incomplete. Let your HTTP client build the body and set `content-type`.',
    logsDetail: true,
  },
  invalid_idempotency_key: {
    status: 400,
    exit: 64,
    title: 'Invalid idempotency key',
    advice: '`idempotency-key` must be 1 to 255 printable ASCII characters. A UUID works well.',
  },
  invalid_fields: {
    status: 400,
    exit: 65,
    title: 'Invalid fields',
    advice: '`errors` lists every invalid field with a pointer to it. Fix them all and try again.',
  },
  invalid_signature: {
    status: 400,
    exit: 77,
    title: 'Invalid signature',
    advice: "Payment webhooks only: the event is too old, or its signature doesn't match any secret of this server.",
  },
  missing_api_key: {
    status: 401,
    exit: 77,
    title: 'Missing API key',
    advice: 'Send your API key in the `x-api-key` header, or as `authorization: Bearer <key>`.',
  },
  invalid_api_key: {
    status: 401,
    exit: 77,
    title: 'Invalid API key',
    advice: 'The API key is mistyped, unknown or revoked. Check it, or create a new one.',
  },
  marketplace_refused: {
    status: 401,
    exit: 77,
    title: 'Not sent by the marketplace',
    advice:
      "A marketplace key only works through the marketplace. Send the request to the marketplace's host, or use one of our keys in `x-api-key`.",
  },
  payment_failed: {
    status: 402,
    exit: 69,
    title: 'Payment failed',
    advice: 'The payment was declined; `detail` says why. Use another payment method.',
  },
  subscription_inactive: {
    status: 403,
    exit: 77,
    title: 'No active subscription',
    advice: 'The account that owns this API key has no active subscription. Choose a plan.',
  },
  key_suspended: {
    status: 403,
    exit: 77,
    title: 'API key suspended',
    advice: 'The API key or its account is suspended. Contact the operator.',
  },
  approval_required: {
    status: 403,
    exit: 77,
    title: 'Approval required',
    advice:
      "The account that owns this live key hasn't been approved yet. Ask the operator to approve it. Until then, use a test key.",
  },
  origin_not_allowed: {
    status: 403,
    exit: 77,
    title: 'Origin not allowed',
    advice: "This API key isn't allowed from this origin. Add the origin to the key, or use another key.",
  },
  form_refused: {
    status: 403,
    exit: 77,
    title: 'Form rejected',
    advice: 'Forms on this site only: the form has expired, or another site sent it. Go back, reload and try again.',
  },
  role_not_allowed: {
    status: 403,
    exit: 77,
    title: 'Not allowed',
    advice: "Pages of this site only: your role in the account doesn't allow this. Ask an owner of the account.",
  },
  async_disabled: {
    status: 400,
    exit: 64,
    title: 'Asynchronous renders are off',
    advice:
      'This server keeps no results. Send the request without `async`, `deliver`, `put_url` and `prefer: respond-async`.',
  },
  async_not_allowed: {
    status: 403,
    exit: 77,
    title: 'Asynchronous renders not available',
    advice:
      'Callers through a marketplace can only render synchronously, and without `put_url`. `deliver` with the value `url` works.',
  },
  render_not_found: {
    status: 404,
    exit: 65,
    title: 'Render not found',
    advice:
      'The id is unknown, or your key may not see this render or batch. Records are deleted 30 days after the render.',
  },
  result_expired: {
    status: 410,
    exit: 65,
    title: 'Result expired',
    advice: 'Results can be downloaded until `expires_at`. Send the request again to get a new one.',
  },
  range_not_satisfiable: {
    status: 416,
    exit: 65,
    title: 'Range not satisfiable',
    advice: 'The `range` header asks for bytes beyond the end of the file. `content-range` has its size.',
  },
  too_many_queued: {
    status: 429,
    exit: 69,
    title: 'Too many queued renders',
    advice: "You've reached your plan's limit of renders that wait or run. Wait for some to finish, or cancel them.",
  },
  stored_bytes_exceeded: {
    status: 429,
    exit: 69,
    title: 'Storage limit reached',
    advice:
      "Your uploads, results, logos and fonts take up your plan's storage. Delete some, or wait until results expire.",
  },
  test_renders_exceeded: {
    status: 429,
    exit: 69,
    title: 'Daily limit of test renders reached',
    advice: 'Test keys have a daily limit of renders. Use a live key, or try again tomorrow (UTC).',
  },
  server_key_required: {
    status: 403,
    exit: 77,
    title: 'Server key required',
    advice:
      'Webhooks, styles, logos and fonts can be changed only with a live key that has no allowed origins, or in the dashboard. Through a marketplace, styles, logos and fonts can be changed, too.',
  },
  style_not_found: {
    status: 404,
    exit: 65,
    title: 'Style not found',
    advice:
      'Your account has no style with this name, or not this version of it. Old versions that are unused are deleted.',
  },
  too_many_styles: {
    status: 409,
    exit: 69,
    title: 'Too many styles',
    advice: 'The account has as many styles as it can have; `limit` and `actual` say how many. Delete one first.',
  },
  brand_files_disabled: {
    status: 400,
    exit: 69,
    title: 'Logos and fonts are off',
    advice: 'This server has no storage that all servers share. Its operator must set `STORYBAR_STORAGE`.',
  },
  logo_not_found: {
    status: 404,
    exit: 65,
    title: 'Logo not found',
    advice: 'Your account has no logo with this id. `GET /v1/logos` lists them.',
  },
  too_many_logos: {
    status: 409,
    exit: 69,
    title: 'Too many logos',
    advice: 'The account has as many logos as its plan allows; `limit` and `actual` say how many. Delete one first.',
  },
  font_not_found: {
    status: 404,
    exit: 65,
    title: 'Font not found',
    advice: 'Your account has no font with this id. `GET /v1/fonts` lists them.',
  },
  too_many_fonts: {
    status: 409,
    exit: 69,
    title: 'Too many fonts',
    advice: 'The account has as many fonts as its plan allows; `limit` and `actual` say how many. Delete one first.',
  },
  webhook_not_found: {
    status: 404,
    exit: 65,
    title: 'Webhook not found',
    advice: 'Your account has no endpoint or delivery with this id. Deliveries are deleted after 30 days.',
  },
  webhook_disabled: {
    status: 409,
    exit: 65,
    title: 'Webhook endpoint disabled',
    advice: 'The endpoint is disabled or has been deleted, so nothing is sent to it. Enable it first.',
  },
  too_many_webhooks: {
    status: 409,
    exit: 69,
    title: 'Too many webhook endpoints',
    advice: 'The account has as many endpoints as it can have; `limit` and `actual` say how many. Delete one first.',
  },
  not_found: {
    status: 404,
    exit: 65,
    title: 'Not found',
    advice: 'There is nothing at this path. To render, use `POST /v1/overlay`.',
  },
  method_not_allowed: {
    status: 405,
    exit: 64,
    title: 'Method not allowed',
    advice: "This path doesn't support the request's method. The `allow` header lists the methods it supports.",
  },
  upload_too_slow: {
    status: 408,
    exit: 69,
    title: 'Upload too slow',
    advice: 'The upload took too long. Check your connection, or send a smaller file.',
    logsDetail: true,
  },
  idempotency_in_flight: {
    status: 409,
    exit: 69,
    title: 'Render in progress',
    advice: 'A request with the same `idempotency-key` is still in progress. Retry after `retry-after` seconds.',
  },
  request_too_large: {
    status: 413,
    exit: 65,
    title: 'Request too large',
    advice:
      'A request without an uploaded file can have at most 2 MiB, and a batch 512 KiB; `limit` and `actual` are in bytes. Shorten it.',
  },
  asset_too_large: {
    status: 413,
    exit: 65,
    title: 'File too large',
    advice: 'The file is larger than your plan allows; `limit` and `actual` are in bytes. Send a smaller file.',
    logsDetail: true,
  },
  asset_too_many_pixels: {
    status: 413,
    exit: 65,
    title: 'Too many pixels',
    advice: 'The image has more pixels than your plan allows; `limit` and `actual` are in pixels. Scale it down.',
    logsDetail: true,
  },
  asset_dimensions_too_large: {
    status: 413,
    exit: 65,
    title: 'Dimensions too large',
    advice:
      'The longer side of the image or video exceeds the limit; `limit` and `actual` are in pixels. Scale it down.',
    logsDetail: true,
  },
  asset_too_long: {
    status: 413,
    exit: 65,
    title: 'Video too long',
    advice:
      'The video is longer than your plan allows; `limit` and `actual` are in seconds. Trim it. If `detail` says so, the header `prefer: respond-async` allows longer ones.',
    logsDetail: true,
  },
  asset_frame_rate_too_high: {
    status: 413,
    exit: 65,
    title: 'Frame rate too high',
    advice:
      "The video's frame rate is more than 8 times what your plan allows; `limit` and `actual` are in frames per second. Reduce it.",
    logsDetail: true,
  },
  asset_too_heavy: {
    status: 413,
    exit: 65,
    title: 'Render too heavy',
    advice:
      'Rendering would take longer than the server allows; `limit` and `actual` are in seconds. Send a shorter video, or one with a smaller frame or a lower frame rate.',
    logsDetail: true,
  },
  unsupported_content_type: {
    status: 415,
    exit: 65,
    title: 'Unsupported content type',
    advice:
      'Send the request as `multipart/form-data`. Without an uploaded file, `application/json` and `application/x-www-form-urlencoded` work too.',
  },
  unsupported_asset: {
    status: 415,
    exit: 65,
    title: 'Unsupported file',
    advice:
      "Use JPEG, PNG, WebP, HEIC, AVIF or GIF images, or MP4, MOV, WebM or Matroska videos. The format is detected from the file's bytes; its name and declared type are ignored.",
    logsDetail: true,
  },
  idempotency_mismatch: {
    status: 422,
    exit: 65,
    title: 'Idempotency key already used',
    advice: 'This `idempotency-key` was used for a request with different fields or a different asset. Use a new key.',
  },
  asset_undecodable: {
    status: 422,
    exit: 65,
    title: "File can't be decoded",
    advice: 'The format is supported, but the file is damaged or incomplete. Export it again.',
    logsDetail: true,
  },
  asset_unreachable: {
    status: 422,
    exit: 69,
    title: "File can't be fetched",
    advice:
      'The server of `asset_url` is unreachable, too slow or responds with an error, whose status is in `upstream_status`. Check that the URL works without signing in.',
  },
  transcription_disabled: {
    status: 400,
    exit: 69,
    title: 'Captions from speech are off',
    advice:
      'This server has no transcription service, or your plan has no captions from speech; `detail` says which. Send a transcript in `captions` instead.',
  },
  no_sound: {
    status: 422,
    exit: 65,
    title: 'Video without sound',
    advice:
      'Captions from speech need a video with sound that can be decoded. Send the captions, or a video with sound.',
    logsDetail: true,
  },
  no_speech: {
    status: 422,
    exit: 65,
    title: 'No speech found',
    advice: 'No words were found in the sound of the video, or it is silent. Check the sound and `lang`.',
  },
  transcription_failed: {
    status: 502,
    exit: 69,
    title: 'Transcription failed',
    advice:
      'The transcription service failed; `detail` says how. Nothing was charged. Try again, after `retry-after` seconds if the response has it, or ask the operator.',
  },
  strict_warnings: {
    status: 422,
    exit: 65,
    title: 'Captions have warnings',
    advice:
      'The request has `strict`, and the captions would not look as intended; `warnings` says why. Change them, or leave out `strict`.',
  },
  at_out_of_range: {
    status: 422,
    exit: 65,
    title: 'Time after the end',
    advice: 'The video ends before `at`; `limit` is its length and `actual` the time, in seconds. Use an earlier time.',
    logsDetail: true,
  },
  cannot_fit: {
    status: 422,
    exit: 65,
    title: 'File too large at any quality',
    advice:
      'Even at the lowest quality, the file is larger than `max_bytes`; `limit` and `actual` are in bytes. Raise `max_bytes`, or make the file smaller with `fit`. If this showed only after encoding, the render is charged.',
    logsDetail: true,
  },
  rate_limited: {
    status: 429,
    exit: 69,
    title: 'Too many requests',
    advice:
      "Rate limit exceeded. The `ratelimit-policy` header has your plan's limit. Retry after `retry-after` seconds.",
  },
  too_many_renders: {
    status: 429,
    exit: 69,
    title: 'Too many concurrent renders',
    advice: "You've reached your plan's concurrent render limit. Wait for a render to finish.",
  },
  quota_exceeded: {
    status: 429,
    exit: 69,
    title: 'Insufficient credits',
    advice: 'Not enough credits left for this render. They reset at `renewsAt`.',
  },
  too_many_failed_keys: {
    status: 429,
    exit: 77,
    title: 'Too many invalid API keys',
    advice: 'This IP address sent too many invalid API keys. Check the key, then retry after `retry-after` seconds.',
  },
  too_many_failures: {
    status: 429,
    exit: 69,
    title: 'Too many failures',
    advice:
      "Too many of your files couldn't be decoded or used up a worker's time or memory within an hour, or too many transcriptions in a day led to no render; `detail` says which. Check the files, and try again after `retry-after` seconds.",
  },
  client_closed: {
    status: 499,
    exit: 70,
    title: 'Client closed request',
    advice: 'Appears in logs only: the client disconnected before the response was complete.',
  },
  internal_error: {
    status: 500,
    exit: 70,
    title: 'Internal error',
    advice: 'Something went wrong on our side. Try again. If it keeps happening, send `instance` to the operator.',
  },
  delivery_failed: {
    status: 502,
    exit: 69,
    title: "File can't be delivered",
    advice:
      'The server of `put_url` is unreachable, too slow or refuses the file; `upstream_status` has the status of its response. Check that the URL has not expired and allows `PUT` with this content type.',
  },
  overloaded: {
    status: 503,
    exit: 69,
    title: 'Overloaded',
    advice: "We're at capacity. Retry after `retry-after` seconds.",
    isTemporary: true,
  },
  out_of_memory: {
    status: 503,
    exit: 69,
    title: 'Not enough memory for this file',
    advice:
      'The file is valid and within your plan, but the server has too little memory for it. Send a smaller file, or ask the operator to give workers more memory.',
  },
  renderer_unavailable: {
    status: 503,
    exit: 69,
    title: 'Renderer unavailable',
    advice: 'The render was interrupted. Retry after `retry-after` seconds.',
    isTemporary: true,
  },
  storage_unavailable: {
    status: 503,
    exit: 69,
    title: 'Storage unavailable',
    advice: "The server is out of disk space or can't reach its database. Retry after `retry-after` seconds.",
    isTemporary: true,
  },
  storage_full: {
    status: 503,
    exit: 69,
    title: 'No room for stored renders',
    advice:
      'All accounts together store as much as this service allows. Retry after `retry-after` seconds, or send the request without `async` and `deliver`, which needs no storage.',
    isTemporary: true,
  },
  payment_unavailable: {
    status: 503,
    exit: 69,
    title: 'Payments unavailable',
    advice: "The payment provider isn't responding. Nothing was charged or changed. Retry after `retry-after` seconds.",
  },
  shutting_down: {
    status: 503,
    exit: 69,
    title: 'Shutting down',
    advice: 'This server is shutting down. Retry; another server will handle the request.',
    isTemporary: true,
  },
  deadline_exceeded: {
    status: 504,
    exit: 69,
    title: 'Deadline exceeded',
    advice:
      'The render took too long, or used more processor time than a render of its size may take. Send a smaller or shorter file.',
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof TABLE;

export const ERRORS: Readonly<Record<ErrorCode, ErrorKind>> = TABLE;
