// Facts about a request for its one line in the log. Routes add them while they work. The line is written when the
// response has been sent and no route is still busy with the request.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../../shared/errors.ts';

/** The steps that become spans of a trace. */
export type RequestStep = 'receive' | 'queue' | 'probe' | 'reserve' | 'transcribe' | 'render' | 'deliver';

export class RequestRecord {
  accountId: string | undefined;
  keyId: string | undefined;
  sourceType: string | undefined;
  /** Credits charged. Undefined for requests that never cost any. */
  credits: number | undefined;
  error: AppError | undefined;
  /** The part of a video that is encoded, 0 to 1. Undefined while it isn't known. */
  progress: number | undefined;
  /** Milliseconds of the render's own steps, as the worker reports them. */
  timings: Readonly<Record<string, number>> = {};
  /** The steps of the request and their starts (`performance.now`). Each step ends where the next one begins. */
  readonly steps: { readonly name: RequestStep; readonly start: number }[] = [];
  readonly #workers = new Set<string>();
  #holds = 0;
  #isClosed = false;
  #onEnd: (() => void) | undefined;

  /** Returns the workers that worked on the request, in the order of their first step. */
  get worker(): string | undefined {
    return this.#workers.size === 0 ? undefined : [...this.#workers].join(',');
  }

  begin(name: RequestStep): void {
    this.steps.push({ name, start: performance.now() });
  }

  /** Records that a worker starts. If the request was waiting for it, `next` begins. */
  assign(worker: string, next: RequestStep): void {
    this.#workers.add(worker);
    if (this.steps.at(-1)?.name === 'queue') this.begin(next);
  }

  /** Keeps the line from being written until the returned function is called. */
  hold(): () => void {
    this.#holds += 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.#holds -= 1;
      isHeld = false;
      this.#end();
    };
  }

  /** `onEnd` runs once, after the response was sent or the connection broke. */
  watch({ raw }: FastifyReply, onEnd: () => void): void {
    this.#onEnd = onEnd;
    raw.once('close', () => {
      this.#isClosed = true;
      if (!raw.writableFinished) this.error ??= new AppError('client_closed', 'The client closed the connection.');
      this.#end();
    });
  }

  #end(): void {
    if (!this.#isClosed || this.#holds > 0) return;
    this.#onEnd?.();
    this.#onEnd = undefined;
  }
}

const records = new WeakMap<FastifyRequest, RequestRecord>();

export function recordOf(request: FastifyRequest): RequestRecord {
  let record = records.get(request);
  if (record === undefined) {
    record = new RequestRecord();
    records.set(request, record);
  }
  return record;
}
