// Fetches the file at a caller's `asset_url`, streamed to disk like an upload and with the same limits. The server
// connects to an address only after it has passed the policy, at the first request and at every redirect.

import type { IncomingMessage } from 'node:http';
import { parseAssetUrl, type UrlFault } from '../../engine/caption/asset-url.ts';
import { AppError } from '../../shared/errors.ts';
import {
  type AssetDestination,
  assertSize,
  type ReceivedFile,
  receiveAsset,
} from '../../engine/media/receive-asset.ts';
import { watchPace } from './pace.ts';
import { ForbiddenAddress, sendChecked } from './checked-request.ts';
import { failureOf, unreachable } from './fetch-failure.ts';
import { type FetchPolicy, forbiddenAddress } from './fetch-policy.ts';

const MAX_REDIRECTS = 3;
const FIRST_BYTE_MS = 10_000;
const MAX_SECONDS = 120;
/** This is more than an upload needs, because files come from servers and not over the connection of a phone. */
const MIN_BYTES_PER_SECOND = 32 * 1024;

export interface FetcherOptions {
  readonly policy: FetchPolicy;
  readonly userAgent: string;
  /** DNS servers for tests. By default, the system's servers. */
  readonly dnsServers?: readonly string[];
  /** Shorter times for tests. */
  readonly times?: { readonly firstByteMs: number; readonly paceIntervalMs: number; readonly maxSeconds: number };
}

export class AssetFetcher {
  readonly policy: FetchPolicy;
  readonly userAgent: string;
  readonly #options: FetcherOptions;

  constructor(options: FetcherOptions) {
    this.policy = options.policy;
    this.userAgent = options.userAgent;
    this.#options = options;
  }

  /** Throws `invalid_fields` for a forbidden address, and `asset_unreachable` for every failure on the way. */
  async fetch(
    url: URL,
    destination: AssetDestination,
    signal: AbortSignal,
    allowedSeconds = MAX_SECONDS,
  ): Promise<ReceivedFile> {
    const { paceIntervalMs: intervalMs, maxSeconds = allowedSeconds } = this.#options.times ?? {};
    const started = performance.now();
    const response = await this.#open(url, signal);
    const secondsLeft = maxSeconds - (performance.now() - started) / 1_000;
    const onTooSlow = (): void => {
      response.destroy(
        unreachable(
          `${url.host} sends the file too slowly. It must arrive within ${maxSeconds} seconds, at ${MIN_BYTES_PER_SECOND} bytes per second or more.`,
        ),
      );
    };
    const stopWatching = watchPace(response, onTooSlow, Math.max(0, secondsLeft), {
      ...(intervalMs !== undefined && { intervalMs }),
      minBytesPerSecond: MIN_BYTES_PER_SECOND,
    });
    try {
      assertSize(Number(response.headers['content-length'] ?? 0), destination.maxBytes);
      const { save, ...file } = await receiveAsset(response, destination);
      await save?.();
      return file;
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error, url);
    } finally {
      stopWatching();
      response.destroy();
    }
  }

  /** Follows redirects to the response that has the file. */
  async #open(first: URL, signal: AbortSignal): Promise<IncomingMessage> {
    let url = first;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await this.#request(url, signal);
      const { statusCode = 0, headers } = response;
      if (isRedirect(statusCode) && headers.location !== undefined) {
        response.destroy();
        url = this.#redirected(headers.location, url);
        continue;
      }
      if (statusCode >= 200 && statusCode < 300 && isUncompressed(response)) return response;
      response.destroy();
      throw refusalOf(url, response);
    }
    throw unreachable(`asset_url redirects more than ${MAX_REDIRECTS} times.`);
  }

  #redirected(location: string, from: URL): URL {
    const url = parseAssetUrl(location, from);
    const fault = url instanceof URL ? this.policy.faultOf(url) : url;
    if (!(url instanceof URL) || fault) throw invalidUrl(fault ?? forbiddenAddress(from.host));
    return url;
  }

  /** The response headers must arrive in time, counted from the lookup of the host. */
  async #request(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    signal.throwIfAborted();
    const { firstByteMs = FIRST_BYTE_MS } = this.#options.times ?? {};
    const attempt = new AbortController();
    const onAbort = (): void => attempt.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => attempt.abort(tooLate(url, firstByteMs)), firstByteMs);
    try {
      return await this.#connect(url, attempt.signal, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(attempt.signal.aborted ? attempt.signal.reason : error, url);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #connect(url: URL, attempt: AbortSignal, signal: AbortSignal): Promise<IncomingMessage> {
    const { policy, userAgent, dnsServers } = this.#options;
    const headers = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity' };
    try {
      return await sendChecked(url, { policy, dnsServers, headers }, attempt, signal);
    } catch (error) {
      throw error instanceof ForbiddenAddress ? invalidUrl(forbiddenAddress(error.host)) : error;
    }
  }
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/**
 * Compressed files are refused, because a small one can become very large. The request asks for uncompressed ones with
 * `accept-encoding`.
 */
function isUncompressed({ headers }: IncomingMessage): boolean {
  return ['', 'identity'].includes((headers['content-encoding'] ?? '').trim().toLowerCase());
}

function refusalOf({ host }: URL, { statusCode = 0, headers }: IncomingMessage): AppError {
  if (statusCode >= 200 && statusCode < 300) {
    return unreachable(`${host} sends the file compressed (${headers['content-encoding']}), which isn't supported.`);
  }
  return unreachable(`${host} responded with status ${statusCode}.`, { upstreamStatus: statusCode });
}

function tooLate({ host }: URL, milliseconds: number): AppError {
  return unreachable(`${host} didn't respond within ${milliseconds / 1_000} seconds.`);
}

function invalidUrl(fault: UrlFault): AppError {
  return new AppError('invalid_fields', fault.detail, { faults: [{ pointer: '#/asset_url', ...fault }] });
}
