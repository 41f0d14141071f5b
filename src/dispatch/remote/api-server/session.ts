// One asset's way through workers elsewhere, seen from the front: first perhaps a probe, then perhaps a render, by the same
// worker if it stays, by another if it does not. The session is the truth; tickets on the queue only call for somebody to
// do what it wants now. Whoever finishes first counts, everybody else is told to stop.

import { randomUUID } from 'node:crypto';
import { AppError } from '../../../errors.ts';
import type { Asset } from '../../../media/asset.ts';
import type { AssetKind } from '../../../media/sniff.ts';
import type { ControlMessage, RemoteFailure, Step } from '../shared/wire.ts';

/** The open line to one worker. */
export interface ControlStream {
  /** Who it is, if he said so: the name by which he is heard elsewhere. */
  readonly worker?: string | undefined;
  send(line: ControlMessage): void;
  /** Ends the line; the worker stops whatever it does. */
  close(): void;
}

/** How a session calls for workers. */
export interface TicketIssuer {
  /** Puts a ticket on the queue; the returned function takes it off again. Rejects with `QueueUnavailable`. */
  issue(session: RenderSession): Promise<() => void>;
  /** A token for the next step of an attempt. */
  attemptToken(session: RenderSession, attempt: number, validMs: number): string;
  onClaimed(session: RenderSession, waitedMs: number): void;
  onLost(session: RenderSession, reason: string): void;
}

export interface StepRequest {
  readonly step: Step;
  /** How long a worker may be at it before it counts as lost. */
  readonly limitMs: number;
  /** Files that the step needs besides the asset, sent end to end. */
  readonly segments?: readonly string[];
}

interface Pending extends StepRequest {
  readonly resolve: (result: never) => void;
  readonly reject: (reason: unknown) => void;
  readonly since: number;
}

interface WorkerAttempt {
  readonly number: number;
  readonly conversation: ControlStream;
  watchdog?: NodeJS.Timeout;
  isSilent?: true;
}

/** As often as the broker delivers a ticket. */
export const MAX_ATTEMPTS = 3;
/** Time for the bytes of a step to travel, beyond its own limit. */
const TRAVEL_MS = 60_000;

export class RenderSession {
  readonly id = randomUUID();
  readonly kind: AssetKind;
  readonly asset: Asset | undefined;
  readonly #issuer: TicketIssuer;
  readonly #attempts = new Map<number, WorkerAttempt>();
  #generation = 0;
  #calledAt = 0;
  #attemptsMade = 0;
  #numbers = 0;
  /** The newest ticket that somebody took. Until then it can be taken off the queue. */
  #claimed = 0;
  #pending: Pending | undefined;
  #withdraw: (() => void) | undefined;
  #isOver = false;

  constructor(kind: AssetKind, asset: Asset | undefined, office: TicketIssuer) {
    this.kind = kind;
    this.asset = asset;
    this.#issuer = office;
  }

  get generation(): number {
    return this.#generation;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Wants something done, and nobody is at it. */
  get isWaiting(): boolean {
    return this.#pending !== undefined && this.#attempts.size === 0;
  }

  /** For how long nobody has come although he was called. */
  get unansweredMs(): number {
    return this.isWaiting ? performance.now() - this.#calledAt : 0;
  }

  /** Somebody could take the next step at once. */
  get isAttended(): boolean {
    return !this.#isOver && this.#attempts.size > 0;
  }

  /** What this attempt is to do now; `undefined` when somebody else has done it or nobody wants it any more. */
  stepOf(attempt: number): StepRequest | undefined {
    return this.#attempts.has(attempt) ? this.#pending : undefined;
  }

  /** Has one step done. One at a time; ends the session when it fails or is cancelled. */
  async perform<Result>(errand: StepRequest, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted();
    const onAbort = (): void => this.fail(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.#pending = { ...errand, resolve, reject, since: performance.now() };
        this.#attemptsMade = this.#attempts.size;
        if (this.#attempts.size === 0) this.call();
        else for (const attempt of this.#attempts.values()) this.#instruct(attempt, errand);
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Puts a new ticket on the queue; every older one becomes worthless. */
  call(): void {
    this.#generation += 1;
    this.#calledAt = performance.now();
    const generation = this.#generation;
    this.#withdraw?.();
    this.#withdraw = undefined;
    this.#issuer.issue(this).then(
      (withdraw) => {
        if (this.#claimed >= generation) return;
        if (this.#isOver || this.#generation !== generation) withdraw();
        else this.#withdraw = withdraw;
      },
      (error: unknown) => {
        if (this.#generation === generation && this.isWaiting) this.fail(error);
      },
    );
  }

  /**
   * Nobody hears of whoever is at it any more: another is called, and the first result counts. The broker does the same by
   * delivering the ticket again, but not without fail.
   */
  callForHelp(isSilent: (worker: string) => boolean): void {
    if (this.#pending === undefined || this.#isLeftAlone || this.#attemptsMade >= MAX_ATTEMPTS) return;
    for (const attempt of this.#attempts.values()) {
      const { worker } = attempt.conversation;
      if (worker !== undefined && isSilent(worker)) attempt.isSilent = true;
    }
    if (this.#isLeftAlone) this.call();
  }

  /** Somebody took it up, but all of them have fallen silent. */
  get #isLeftAlone(): boolean {
    return this.#attempts.size > 0 && [...this.#attempts.values()].every(({ isSilent }) => isSilent);
  }

  /** A worker takes up a ticket. False when it comes too late, or has no business here. */
  join(generation: number, isRedelivered: boolean, conversation: ControlStream): { readonly attempt: number } | false {
    const pending = this.#pending;
    if (pending === undefined || generation !== this.#generation || this.#attemptsMade >= MAX_ATTEMPTS) return false;
    // The same ticket twice, but not because its first holder fell silent.
    if (this.#attempts.size > 0 && !isRedelivered && !this.#isLeftAlone) return false;
    if (this.#attemptsMade === 0) this.#issuer.onClaimed(this, performance.now() - pending.since);
    this.#attemptsMade += 1;
    this.#claimed = generation;
    this.#withdraw = undefined;
    const attempt: WorkerAttempt = { number: this.#nextNumber(), conversation };
    this.#attempts.set(attempt.number, attempt);
    this.#instruct(attempt, pending);
    return { attempt: attempt.number };
  }

  /** The line to a worker broke, or the worker says that it cannot: others may try. */
  lose(number: number, reason: string, failure?: RemoteFailure): void {
    const attempt = this.#attempts.get(number);
    if (attempt === undefined) return;
    this.#drop(attempt);
    if (!this.isWaiting) return;
    this.#issuer.onLost(this, reason);
    if (this.#attemptsMade < MAX_ATTEMPTS) this.call();
    else this.fail(lostTooOften(failure));
  }

  /** The first complete result counts. False: somebody was faster, or nobody waits. */
  succeed(number: number, result: unknown): boolean {
    const pending = this.#pending;
    const winner = this.#attempts.get(number);
    if (pending === undefined || winner === undefined) return false;
    this.#pending = undefined;
    for (const attempt of this.#attempts.values()) {
      clearTimeout(attempt.watchdog);
      if (attempt !== winner) this.#drop(attempt);
    }
    pending.resolve(result as never);
    return true;
  }

  fail(reason: unknown): void {
    const pending = this.#pending;
    this.#pending = undefined;
    this.end();
    pending?.reject(reason);
  }

  /** Nobody needs anything any more. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // A ticket that still lies there would cost a worker a walk for nothing.
    this.#withdraw?.();
    for (const attempt of this.#attempts.values()) this.#drop(attempt);
    this.#pending?.reject(new AppError('shutting_down', 'The service is shutting down. Try again shortly.'));
    this.#pending = undefined;
  }

  #instruct(attempt: WorkerAttempt, { step, limitMs }: StepRequest): void {
    const validMs = limitMs + TRAVEL_MS;
    const token = this.#issuer.attemptToken(this, attempt.number, validMs);
    clearTimeout(attempt.watchdog);
    attempt.watchdog = setTimeout(() => this.lose(attempt.number, 'took too long'), validMs);
    attempt.conversation.send({ type: 'step', attempt: attempt.number, token, step });
  }

  #drop(attempt: WorkerAttempt): void {
    clearTimeout(attempt.watchdog);
    this.#attempts.delete(attempt.number);
    attempt.conversation.close();
  }

  /** Never used twice, so that a token of one attempt is no good for another. */
  #nextNumber(): number {
    this.#numbers += 1;
    return this.#numbers;
  }
}

function lostTooOften(failure: RemoteFailure | undefined): AppError {
  const message = failure?.message ?? 'The render was interrupted several times. Try again shortly.';
  return new AppError(failure?.code ?? 'renderer_unavailable', message, { retryAfterSeconds: 2 });
}
