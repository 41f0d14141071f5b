// Requests to a server, tried again as long as the failure may pass. Everything that a server sends passes a schema.

import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { VERSION } from '../../main/version.ts';
import { messageOf } from '../../primitives/error-facts.ts';
import { CommandFailure, EXIT_CODES } from '../exit-codes.ts';
import type { EncodedForm } from './upload-form.ts';

/** Printed on a terminal, so control characters are replaced. */
const sentence = z.string().transform((text) => text.replaceAll(/\p{C}/gu, '?'));

const problemSchema = z.looseObject({
  status: z.number(),
  code: z.string(),
  detail: sentence,
  errors: z.array(z.object({ pointer: sentence, detail: sentence })).optional(),
});
type ServerProblem = z.infer<typeof problemSchema>;

/** With all fields, also those that this version doesn't know. */
const renderSchema = z.looseObject({
  id: z.string(),
  status: z.enum(['queued', 'rendering', 'succeeded', 'failed', 'canceled']),
  progress: z.number(),
  credits: z.number().nullable(),
  warnings: z.array(z.string()),
  output: z.looseObject({ url: z.url(), bytes: z.number(), width: z.number(), height: z.number() }).nullable(),
  error: problemSchema.nullable(),
});
export type SentRender = z.infer<typeof renderSchema>;

export interface ServiceOptions {
  readonly url: string;
  readonly key: string;
  readonly signal: AbortSignal;
  /** Called before a pause, with the reason. */
  readonly onRetry: (reason: string, seconds: number) => void;
}

export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** A path of the API, or a whole URL, which gets no key. */
  readonly address: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called once per attempt, because a stream can be sent only once. */
  readonly body?: () => EncodedForm;
  readonly maxRetries: number;
  /** For the response to begin. */
  readonly timeoutMs?: number;
}

const FIRST_DELAY_MS = 500;
const LONGEST_BACKOFF_MS = 8_000;
const LONGEST_RETRY_AFTER_MS = 60_000;
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 409, 429, 500, 502, 503, 504]);
/** The same request would fail again. */
const LASTING_CODES: ReadonlySet<string> = new Set([
  'quota_exceeded',
  'deadline_exceeded',
  'too_many_failed_keys',
  'upload_too_slow',
]);

export class Service {
  readonly #options: ServiceOptions;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  /** The response as soon as it begins. */
  async open(request: ServiceRequest): Promise<Response> {
    return await this.#request(request, async (response) => response);
  }

  async render(request: ServiceRequest): Promise<SentRender> {
    const { origin, text } = await this.#request(request, readText);
    return parseRender(text, origin);
  }

  /** Undefined if the render had ended and was deleted. */
  async cancel(request: ServiceRequest): Promise<SentRender | undefined> {
    const { origin, text } = await this.#request(request, readText);
    return text === '' ? undefined : parseRender(text, origin);
  }

  /** Throws a `CommandFailure` when the failure is final or has been tried often enough. */
  async #request<Result extends object>(
    request: ServiceRequest,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const { signal, onRetry } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#tryOnce(request, read);
      if (!(outcome instanceof FailedAttempt)) return outcome;
      const delayMs = attempt < request.maxRetries ? outcome.delayMs(attempt) : undefined;
      if (delayMs === undefined) throw outcome.failure;
      onRetry(outcome.failure.message, delayMs / 1_000);
      await wait(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  /** Reading the response is a part of the attempt, because a server can crash while it sends one. */
  async #tryOnce<Result extends object>(
    request: ServiceRequest,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result | FailedAttempt> {
    const { url, key, signal } = this.#options;
    const { method, address, headers, body, timeoutMs } = request;
    signal.throwIfAborted();
    const isOurs = address.startsWith('/');
    const target = new URL(isOurs ? `${url}${address}` : address);
    const timeout = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
    const encoded = body?.();
    try {
      const response = await fetch(target, {
        method,
        headers: {
          'user-agent': `storybar/${VERSION}`,
          ...(isOurs && { 'x-api-key': key }),
          ...headers,
          ...encoded?.headers,
        },
        signal: AbortSignal.any([signal, ...timeout]),
        ...(encoded && { body: encoded.body, duplex: 'half' as const }),
      });
      return response.ok ? await read(response) : await failedResponse(response);
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
      const message = `Cannot reach ${target.origin}: ${messageOf(reason) || String(reason)}.`;
      const failure = new CommandFailure(message, { code: 'unreachable', exit: EXIT_CODES.overloaded });
      return new FailedAttempt(failure, backoff);
    }
  }
}

class FailedAttempt {
  readonly failure: CommandFailure;
  /** Before another attempt; undefined if the failure is final. */
  readonly delayMs: (attempt: number) => number | undefined;

  constructor(failure: CommandFailure, delayMs: FailedAttempt['delayMs']) {
    this.failure = failure;
    this.delayMs = delayMs;
  }
}

function backoff(attempt: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_BACKOFF_MS);
}

async function failedResponse(response: Response): Promise<FailedAttempt> {
  const { status } = response;
  const text = await response.text().catch(() => '');
  const problem = problemOf(text) ?? {
    status,
    code: `http_${status}`,
    detail: `The server responded with status ${status}.`,
  };
  const isPassing = PASSING_STATUSES.has(status) && !LASTING_CODES.has(problem.code);
  const asked = Number(response.headers.get('retry-after') ?? Number.NaN) * 1_000;
  const delayMs = (attempt: number): number | undefined => {
    if (!isPassing) return undefined;
    if (Number.isNaN(asked)) return backoff(attempt);
    return asked <= LONGEST_RETRY_AFTER_MS ? asked : undefined;
  };
  return new FailedAttempt(failureOf(problem), delayMs);
}

/** Undefined for a response of something else, such as a proxy. */
function problemOf(text: string): ServerProblem | undefined {
  try {
    return problemSchema.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function failureOf({ status, code, detail, errors = [] }: ServerProblem): CommandFailure {
  const exit = Object.hasOwn(EXIT_CODES, code) ? EXIT_CODES[code as keyof typeof EXIT_CODES] : exitOfStatus(status);
  const faults = errors.map((fault) => `${fault.pointer.slice(2)}: ${fault.detail}`);
  return new CommandFailure(detail, { code, exit, status, faults: faults.length > 1 ? faults : [] });
}

/** For codes that are newer than this program. */
function exitOfStatus(status: number): number {
  if (status === 401 || status === 403) return EXIT_CODES.invalid_api_key;
  return status >= 500 || status === 429 ? EXIT_CODES.overloaded : EXIT_CODES.invalid_fields;
}

async function readText(response: Response): Promise<{ readonly origin: string; readonly text: string }> {
  return { origin: new URL(response.url).origin, text: await response.text() };
}

function parseRender(text: string, origin: string): SentRender {
  try {
    return renderSchema.parse(JSON.parse(text));
  } catch (error) {
    const message = `${origin} isn't a Storybar server that can render asynchronously: ${messageOf(error)}`;
    throw new CommandFailure(message, { code: 'unexpected_response', exit: EXIT_CODES.overloaded });
  }
}
