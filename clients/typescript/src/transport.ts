// One HTTP request with a timeout, retries and typed errors.

import { checkTimeout, send } from '#platform';
import {
  errorFromResponse,
  StorybarApiError,
  StorybarConnectionError,
  StorybarError,
  StorybarTimeoutError,
} from './errors.ts';
import type { EncodedUpload, OnProgress } from './platform.ts';

export interface RequestOptions {
  /** Cancels the request, its retries and the download of the result. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds to wait for the response to begin, per attempt. Default: 300,000, which is also the most that the `fetch` of
   * Node.js can wait. `Infinity` waits as long as `fetch` does: without a limit in browsers and with a `fetch` of your own.
   */
  readonly timeoutMs?: number | undefined;
  /** Headers to send besides those of the client. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How often to retry after a temporary error. Default: 3. */
  readonly maxRetries?: number | undefined;
}

export interface TransportSettings {
  /** Default: the global `fetch`. Pass one of your own to use a proxy. */
  readonly fetch: typeof fetch | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  /** The longest `retry-after` that the client waits for. */
  readonly maxRetryDelayMs: number;
  /** Called before the pause that precedes another attempt, with the error that caused it. */
  readonly onRetry?: ((error: StorybarError, delayMs: number) => void) | undefined;
}

export type ReadResponse<Result> = (response: Response) => Promise<Result>;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Called once per attempt, because a stream can be sent only once. */
  readonly encode?: () => Promise<EncodedUpload>;
  readonly isRepeatable: boolean;
  readonly onUploadProgress?: OnProgress | undefined;
}

const FIRST_DELAY_MS = 500;
const LONGEST_BACKOFF_MS = 8_000;
/** A timer with a longer delay would end at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/**
 * Statuses of gateway errors, and of temporary errors of the service. 500 is safe because renders have an idempotency
 * key.
 */
const PASSING_STATUSES = new Set([408, 409, 429, 500, 502, 503, 504]);
/** These codes have a status of temporary errors, but the same request would fail again. */
const LASTING_CODES = new Set<string>([
  'quota_exceeded',
  'deadline_exceeded',
  'too_many_failed_keys',
  'upload_too_slow',
]);

/** Reading the response is a part of an attempt, because a server can crash while it sends one. */
export async function request<Result>(
  settings: TransportSettings,
  http: HttpRequest,
  options: RequestOptions,
  read: ReadResponse<Result>,
): Promise<Result> {
  const retries = http.isRepeatable ? (options.maxRetries ?? settings.maxRetries) : 0;
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await tryOnce(settings, http, options, read);
    if (!(outcome instanceof StorybarError)) return outcome;
    const delay = attempt < retries ? delayBeforeRetry(outcome, attempt, settings.maxRetryDelayMs) : undefined;
    if (delay === undefined) throw outcome;
    settings.onRetry?.(outcome, delay);
    await sleep(delay, options.signal);
  }
}

async function tryOnce<Result>(
  settings: TransportSettings,
  { method, url, headers, encode, onUploadProgress }: HttpRequest,
  options: RequestOptions,
  read: ReadResponse<Result>,
): Promise<Result | StorybarError> {
  options.signal?.throwIfAborted();
  const timeoutMs = options.timeoutMs ?? settings.timeoutMs;
  if (settings.fetch === undefined) checkTimeout(timeoutMs);
  const controller = new AbortController();
  const timeout = new StorybarTimeoutError(`No response within ${timeoutMs} ms.`);
  const timer = setTimeout(() => controller.abort(timeout), Math.min(timeoutMs, LONGEST_TIMER_MS));
  const signal = options.signal ? AbortSignal.any([options.signal, controller.signal]) : controller.signal;
  try {
    const encoded = await encode?.();
    const all = { ...settings.headers, ...options.headers, ...headers, ...encoded?.headers };
    const init = { method, headers: all, signal, body: encoded?.body ?? null };
    // Browsers refuse to call `fetch` as a method of another object.
    const response = await send({ fetch: settings.fetch ?? globalFetch, url, init, onUploadProgress });
    return response.ok ? await read(response) : await errorFromResponse(response);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (controller.signal.aborted) return timeout;
    // `fetch` reports every failure of the connection as a TypeError. Anything else, such as a missing file, is final.
    if (!(error instanceof TypeError)) throw error;
    return new StorybarConnectionError(`Cannot reach ${new URL(url).origin}: ${reasonOf(error)}.`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

const globalFetch: typeof fetch = (...args) => fetch(...args);

/**
 * Node.js reports only `fetch failed` and puts the reason into the cause, which has no message if there were several.
 */
function reasonOf({ message, cause }: TypeError): string {
  return cause instanceof Error ? cause.message || String(cause) : message;
}

/** Returns undefined for a response without a body. */
export async function readJson<Result>(response: Response): Promise<Result> {
  const text = await response.text();
  try {
    return (response.status === 204 ? undefined : JSON.parse(text)) as Result;
  } catch (error) {
    throw new StorybarError(`The server responded with something else than JSON: ${String(error)}`, { cause: error });
  }
}

/** Returns milliseconds, or undefined if the error is final. */
function delayBeforeRetry(error: StorybarError, attempt: number, longestMs: number): number | undefined {
  const backoff = Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_BACKOFF_MS) * (0.5 + Math.random() / 2);
  if (!(error instanceof StorybarApiError)) return backoff;
  if (!PASSING_STATUSES.has(error.status) || LASTING_CODES.has(error.code)) return undefined;
  if (error.retryAfter === undefined) return backoff;
  const asked = error.retryAfter * 1_000;
  return asked <= longestMs ? asked : undefined;
}

export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    }
  });
}
