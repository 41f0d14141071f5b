// One attempt to deliver a webhook: a signed POST, with the address checks of `asset_url`, no redirects, one deadline for
// everything, and only the beginning of the response.

import type { IncomingMessage } from 'node:http';
import { signWebhook } from '../account/webhook-secret.ts';
import type { ClaimedDelivery, WebhookAttempt } from '../store/webhooks/webhook.ts';
import { ForbiddenAddress, sendChecked } from '../fetch/checked-request.ts';
import { failureReason } from '../fetch/fetch-failure.ts';
import { type FetchPolicy, forbiddenAddress } from '../fetch/fetch-policy.ts';

export interface WebhookSenderOptions {
  readonly policy: FetchPolicy;
  readonly userAgent: string;
  /** DNS servers for tests. By default, the system's servers. */
  readonly dnsServers?: readonly string[];
  /** A shorter deadline for tests. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 2_048;
const MAX_CONTENT_TYPE = 100;

/** The result of the request. */
interface Outcome {
  readonly status?: number;
  readonly contentType?: string | undefined;
  readonly response?: string;
  readonly error?: string | undefined;
}

class TimedOut extends Error {}

export class WebhookSender {
  readonly #options: WebhookSenderOptions;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
  }

  /** Throws only when the signal is aborted. Every other failure is part of the attempt. */
  async send({ delivery, body, secrets }: ClaimedDelivery, signal: AbortSignal): Promise<WebhookAttempt> {
    signal.throwIfAborted();
    const startedAt = new Date();
    const started = performance.now();
    const timestamp = Math.floor(startedAt.getTime() / 1_000);
    const { messageId: id } = delivery;
    const requestHeaders = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': this.#options.userAgent,
      'accept-encoding': 'identity',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signWebhook({ id, timestamp, body }, secrets),
    };
    const outcome = await this.#post(new URL(delivery.url), requestHeaders, body, signal);
    return {
      at: startedAt.toISOString(),
      durationMs: performance.now() - started,
      requestHeaders,
      status: outcome.status,
      contentType: outcome.contentType,
      response: outcome.response ?? '',
      error: outcome.error,
    };
  }

  async #post(url: URL, headers: Record<string, string>, body: string, signal: AbortSignal): Promise<Outcome> {
    const { policy, dnsServers, timeoutMs = TIMEOUT_MS } = this.#options;
    // The settings may have changed since the URL was accepted.
    const fault = policy.faultOf(url, 'webhook');
    if (fault) return { error: fault.detail };
    const deadline = new AbortController();
    const onAbort = (): void => deadline.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => deadline.abort(new TimedOut()), timeoutMs);
    try {
      const request = { policy, dnsServers, headers, body };
      const response = await sendChecked(url, request, deadline.signal, deadline.signal);
      return await outcomeOf(response);
    } catch (error) {
      signal.throwIfAborted();
      const isLate = deadline.signal.reason instanceof TimedOut;
      return {
        error: isLate ? `${url.host} didn't respond within ${timeoutMs / 1_000} seconds.` : failure(error, url),
      };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      // The rest of the response isn't needed.
      deadline.abort();
    }
  }
}

async function outcomeOf(response: IncomingMessage): Promise<Outcome> {
  const { statusCode: status = 0, headers } = response;
  return {
    status,
    contentType: headers['content-type']?.slice(0, MAX_CONTENT_TYPE),
    response: await excerptOf(response),
    error: status >= 200 && status < 300 ? undefined : statusFailure(status),
  };
}

/** The status decides, so a body that breaks off or never ends does no harm. */
async function excerptOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_RESPONSE_BYTES) break;
    }
  } catch {
    // The bytes that have arrived are enough.
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES));
  // PostgreSQL stores no NUL characters.
  return text.replaceAll('\0', '\u{FFFD}');
}

function statusFailure(status: number): string {
  if (status >= 300 && status < 400) return `The receiver responded with ${status}. Redirects aren't followed.`;
  return `The receiver responded with ${status}.`;
}

function failure(error: unknown, { host }: URL): string {
  if (error instanceof ForbiddenAddress) return forbiddenAddress(error.host).detail;
  return `The webhook can't be sent to ${host}: ${failureReason(error)}.`;
}
