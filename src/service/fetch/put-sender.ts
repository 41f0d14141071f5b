// Sends a finished file to a caller's `put_url`, once. The receiver is asked first whether it wants the file (RFC 9110,
// `Expect: 100-continue`), so a refusal costs no bytes and the receiver has none of them.

import type { ClientRequest } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import type { PutRequest } from '../../engine/caption/put-fields.ts';
import { AppError } from '../../shared/errors.ts';
import { ForbiddenAddress, sendChecked } from './checked-request.ts';
import { failureReason } from './fetch-failure.ts';
import { type FetchPolicy, forbiddenAddress } from './fetch-policy.ts';

export interface PutSenderOptions {
  readonly policy: FetchPolicy;
  readonly userAgent: string;
  /** DNS servers for tests. By default, the system's servers. */
  readonly dnsServers?: readonly string[];
  /** Shorter times for tests. */
  readonly times?: Partial<PutTimes>;
}

interface PutTimes {
  /** How long a receiver may take to say that it wants the file. Afterwards it is sent anyway, as many don't say it. */
  readonly continueMs: number;
  /** The longest time without progress, until the last byte is sent. */
  readonly idleMs: number;
  /** How long a receiver may take to respond after the last byte. */
  readonly responseMs: number;
  readonly maxMs: number;
}

export interface PutFile {
  readonly bytes: number;
  readonly contentType: string;
  readonly body: Readable;
}

export interface PutOutcome {
  /** The status of the receiver's response. Null without one. */
  readonly status: number | null;
  /** Why the receiver doesn't have the file, in a sentence. Undefined if it has accepted it. */
  readonly error?: string;
  /** True if the same request may succeed later. */
  readonly mayRepeat: boolean;
}

const TIMES: PutTimes = { continueMs: 2_000, idleMs: 60_000, responseMs: 15_000, maxMs: 600_000 };
/** Other statuses below 500 say that the request itself is wrong, such as an expired signature. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

class TooSlow extends Error {}

export class PutSender {
  readonly #options: PutSenderOptions;

  constructor(options: PutSenderOptions) {
    this.#options = options;
  }

  /**
   * Throws when the signal is aborted, the file can't be read, or the settings forbid the URL. Every other failure is the
   * receiver's, and part of the outcome.
   */
  async send({ url: href, headers }: PutRequest, file: PutFile, signal: AbortSignal): Promise<PutOutcome> {
    const url = new URL(href);
    const { policy, dnsServers, userAgent, times } = this.#options;
    const upload = new Upload(file, { ...TIMES, ...times }, url.host);
    const onAbort = (): void => upload.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      // The settings may have changed since the URL was accepted.
      const fault = policy.faultOf(url, 'put');
      if (fault) throw new AppError('delivery_failed', fault.detail);
      const own = {
        'content-length': String(file.bytes),
        'content-type': file.contentType,
        'user-agent': userAgent,
        expect: '100-continue',
      };
      const request = { policy: policy.put, dnsServers, headers: { ...headers, ...own } };
      const sending = { ...request, upload: (outgoing: ClientRequest) => upload.start(outgoing) };
      const { statusCode = 0 } = await sendChecked(url, sending, upload.signal, upload.signal);
      return outcomeOf(statusCode, upload);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError) throw error;
      if (upload.readError !== undefined) throw upload.readError;
      return { status: null, mayRepeat: !(error instanceof ForbiddenAddress), error: upload.failure(error) };
    } finally {
      signal.removeEventListener('abort', onAbort);
      upload.end();
    }
  }
}

/** The body of one request, and what has become of it. */
class Upload {
  readonly host: string;
  readonly #file: PutFile;
  readonly #times: PutTimes;
  readonly #controller = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #idle: NodeJS.Timeout;
  #sentBytes = 0;
  /** The file couldn't be read, which isn't the receiver's fault. */
  readError: unknown;
  #isStarted = false;

  constructor(file: PutFile, times: PutTimes, host: string) {
    this.host = host;
    this.#file = file;
    this.#times = times;
    file.body.on('error', (error) => {
      if (!this.signal.aborted) this.readError = error;
    });
    this.#idle = this.#giveUpAfter(times.idleMs);
    this.#giveUpAfter(times.maxMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isComplete(): boolean {
    return this.#sentBytes === this.#file.bytes;
  }

  start(outgoing: ClientRequest): void {
    outgoing.flushHeaders();
    outgoing.once('continue', () => this.#sendBody(outgoing));
    outgoing.once('response', () => (this.#isStarted = true));
    outgoing.once('socket', (socket) => {
      const isSecure = outgoing.protocol === 'https:';
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        this.#timers.push(setTimeout(() => this.#sendBody(outgoing), this.#times.continueMs));
      });
    });
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  failure(error: unknown): string {
    if (error instanceof ForbiddenAddress) return forbiddenAddress(error.host, 'put').detail;
    const { reason } = this.signal;
    const why = reason instanceof TooSlow ? 'it takes the file or responds too slowly' : failureReason(error);
    return `The file can't be sent to ${this.host}: ${why}.`;
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    // The rest of the response isn't needed.
    this.abort(undefined);
    this.#file.body.destroy();
  }

  #giveUpAfter(ms: number): NodeJS.Timeout {
    const timer = setTimeout(() => this.abort(new TooSlow()), ms);
    this.#timers.push(timer);
    return timer;
  }

  #sendBody(outgoing: ClientRequest): void {
    if (this.#isStarted || outgoing.destroyed) return;
    this.#isStarted = true;
    this.#file.body.on('data', (chunk: Buffer) => {
      this.#sentBytes += chunk.length;
      this.#idle.refresh();
    });
    outgoing.once('finish', () => this.#giveUpAfter(this.#times.responseMs));
    pipeline(this.#file.body, outgoing, (error) => {
      // Without the rest of the file, the receiver must not take it for complete.
      if (error) outgoing.destroy();
    });
  }
}

function outcomeOf(status: number, { isComplete, host }: Upload): PutOutcome {
  const isAccepted = status >= 200 && status < 300;
  if (isAccepted && isComplete) return { status, mayRepeat: false };
  const mayRepeat = isAccepted || status >= 500 || TEMPORARY.has(status);
  return { status, mayRepeat, error: refusalOf(status, host, isAccepted) };
}

function refusalOf(status: number, host: string, isEarly: boolean): string {
  if (isEarly) return `${host} responded with ${status} before it had the whole file.`;
  if (status >= 300 && status < 400) return `${host} responded with ${status}. Redirects aren't followed.`;
  return `${host} responded with ${status}.`;
}
