// Every error this package throws, apart from the reason of an aborted signal.

import type { components } from './schema.generated.ts';

export type Problem = components['schemas']['Problem'];
export type FieldFault = components['schemas']['FieldFault'];
/** The documented codes. Servers may send newer ones, so handle unknown codes by `status`. */
export type ErrorCode = Problem['code'];

export class StorybarError extends Error {
  override name = 'StorybarError';
}

/** The server could not be reached, or the connection broke. */
export class StorybarConnectionError extends StorybarError {
  override name = 'StorybarConnectionError';
}

/** The response, or the end of an asynchronous render, did not arrive in time. */
export class StorybarTimeoutError extends StorybarError {
  override name = 'StorybarTimeoutError';
}

/** A webhook whose signature, age or body is wrong. */
export class StorybarWebhookError extends StorybarError {
  override name = 'StorybarWebhookError';
}

/** The server responded with an error. */
export class StorybarApiError extends StorybarError {
  override name = 'StorybarApiError';
  readonly status: number;
  readonly code: ErrorCode | (string & {});
  /** Every invalid field, with a pointer such as `#/overlays/1/position`. Empty unless `code` is `invalid_fields`. */
  readonly faults: readonly FieldFault[];
  readonly renderId: string | undefined;
  /** The id under which the operator of the server finds the request. */
  readonly requestId: string | undefined;
  /** Seconds to wait before another attempt, if the server sent them. */
  readonly retryAfter: number | undefined;
  /** The whole error as the server sent it, with fields such as `limit`, `actual`, `renewsAt` and `warnings`. */
  readonly problem: Partial<Problem>;

  constructor(status: number, problem: Partial<Problem>, retryAfter?: number, requestId?: string) {
    const faults = problem.errors ?? [];
    const lines = faults.map(({ pointer, detail }) => `${pointer}: ${detail}`);
    super([problem.detail ?? problem.title ?? `The server responded with status ${status}.`, ...lines].join('\n'));
    this.status = status;
    this.code = problem.code ?? `http_${status}`;
    this.faults = faults;
    this.renderId = problem.instance;
    this.retryAfter = retryAfter;
    this.requestId = requestId;
    this.problem = problem;
  }
}

/** An asynchronous render failed or was canceled. */
export class StorybarRenderError extends StorybarApiError {
  override name = 'StorybarRenderError';
}

export async function errorFromResponse(response: Response): Promise<StorybarApiError> {
  const text = await response.text().catch(() => '');
  const requestId = response.headers.get('x-request-id') ?? undefined;
  return new StorybarApiError(response.status, parseProblem(text) ?? {}, retryAfterOf(response), requestId);
}

/** Returns undefined for a response that a proxy sent or cut off. The status still tells the kind of error. */
function parseProblem(text: string): Problem | undefined {
  try {
    const value = JSON.parse(text) as Problem | null;
    return typeof value?.code === 'string' && typeof value.detail === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns seconds. The header may also be a date. */
function retryAfterOf({ headers }: Response): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const seconds = /^\d+$/u.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
