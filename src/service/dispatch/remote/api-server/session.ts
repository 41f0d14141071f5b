// The API server's record of one asset that workers on other machines process: a probe, a render, or both. They run on
// the same worker while it stays connected, and on another one otherwise. The session has the steps, and a ticket on
// the queue only requests a worker for them. The first result counts, and all other workers are told to stop.

import { randomUUID } from 'node:crypto';
import { AppError } from '../../../../shared/errors.ts';
import type { Asset } from '../../../../engine/media/asset.ts';
import type { RenderFile } from '../../../../engine/media/render-file.ts';
import type { AssetKind } from '../../../../engine/media/sniff.ts';
import type { AssetProbe } from '../../../../engine/render/compose.ts';
import type { RenderFacts } from '../../../../engine/render/render.ts';
import type { StepFailure } from '../../reports.ts';
import type { ControlMessage, ProbeStep, RenderStep, Step } from '../shared/control-messages.ts';

/** The open response to the worker that has claimed the ticket. */
export interface ControlStreamWriter {
  /** The worker's name as in its presence, if it sent one. */
  readonly worker?: string | undefined;
  send(message: ControlMessage): void;
  /** Ends the stream, so the worker stops its work. */
  close(): void;
}

/** Issues tickets and tokens for a session, and is notified of claimed and lost attempts. */
export interface TicketIssuer {
  /** Puts a ticket on the queue. The returned function removes it again. Rejects with `QueueUnavailable`. */
  issue(session: RenderSession): Promise<() => void>;
  /** Returns a token for the next step of an attempt. */
  attemptToken(session: RenderSession, attempt: number, validMs: number): string;
  onClaimed(session: RenderSession, claim: TicketClaim): void;
  onAttemptLost(session: RenderSession, lost: LostAttempt): void;
}

interface TicketClaim {
  /** The worker's name, if it gave one. */
  readonly worker: string | undefined;
  /** The milliseconds since the step was requested. */
  readonly waitedMs: number;
  /** False for another attempt at the same step. */
  readonly isFirst: boolean;
}

export interface LostAttempt {
  /** The worker's name, if it gave one. */
  readonly worker: string | undefined;
  readonly reason: string;
}

export interface StepRequest<StepType extends Step = Step> {
  readonly step: StepType;
  /** The time after which a worker counts as lost. */
  readonly limitMs: number;
  /** An additional file that the recipe works on. */
  readonly attachment?: string;
  /** Files that the recipe names. */
  readonly files?: readonly RenderFile[];
  /** Called regularly with the part of the step that is done, 0 to 1. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

interface Waiter<Result> {
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (reason: unknown) => void;
  readonly since: number;
}

type PendingStep =
  | ({ readonly type: 'probe' } & StepRequest<ProbeStep> & Waiter<AssetProbe>)
  | ({ readonly type: 'render' } & StepRequest<RenderStep> & Waiter<RenderFacts>);

interface WorkerAttempt {
  readonly number: number;
  readonly stream: ControlStreamWriter;
  watchdog?: NodeJS.Timeout;
  isSilent?: true;
}

/** NATS delivers a ticket as often. */
export const MAX_ATTEMPTS = 3;
/** The time to transfer the files of a step, in addition to its own limit. */
const TRANSFER_MS = 60_000;

export class RenderSession {
  readonly id = randomUUID();
  readonly kind: AssetKind;
  readonly asset: Asset | undefined;
  readonly #issuer: TicketIssuer;
  readonly #attempts = new Map<number, WorkerAttempt>();
  #generation = 0;
  #ticketIssuedAt = 0;
  /** The number of attempts at the pending step. */
  #attemptsMade = 0;
  #lastAttempt = 0;
  /** The newest ticket that a worker has claimed. An unclaimed one can still be removed from the queue. */
  #claimedGeneration = 0;
  #pending: PendingStep | undefined;
  #withdrawTicket: (() => void) | undefined;
  #isClosed = false;

  constructor(kind: AssetKind, asset: Asset | undefined, issuer: TicketIssuer) {
    this.kind = kind;
    this.asset = asset;
    this.#issuer = issuer;
  }

  /** Returns the number of the newest ticket. */
  get generation(): number {
    return this.#generation;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Returns true while a step is pending and no worker has it. */
  get isWaiting(): boolean {
    return this.#pending !== undefined && this.#attempts.size === 0;
  }

  /** Returns the milliseconds since the newest ticket was issued, while no worker has claimed it. */
  get unclaimedMs(): number {
    return this.isWaiting ? performance.now() - this.#ticketIssuedAt : 0;
  }

  /** Returns the name of a connected worker, if it sent one. */
  get worker(): string | undefined {
    return this.#attempts.values().next().value?.stream.worker;
  }

  /** Returns the current step of this attempt, or `undefined` when its result is no longer needed. */
  stepOf(attempt: number): StepRequest | undefined {
    return this.#attempts.has(attempt) ? this.#pending : undefined;
  }

  /** Runs one step at a time. A step that fails or is canceled closes the session. */
  async probe(request: StepRequest<ProbeStep>, signal: AbortSignal): Promise<AssetProbe> {
    return await this.#run<AssetProbe>(signal, (waiter) => ({ type: 'probe', ...request, ...waiter }));
  }

  /** Works like `probe`. */
  async render(request: StepRequest<RenderStep>, signal: AbortSignal): Promise<RenderFacts> {
    return await this.#run<RenderFacts>(signal, (waiter) => ({ type: 'render', ...request, ...waiter }));
  }

  async #run<Result>(signal: AbortSignal, pendingOf: (waiter: Waiter<Result>) => PendingStep): Promise<Result> {
    signal.throwIfAborted();
    const onAbort = (): void => this.fail(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await new Promise<Result>((resolve, reject) => {
        const pending = pendingOf({ resolve, reject, since: performance.now() });
        this.#pending = pending;
        this.#attemptsMade = this.#attempts.size;
        if (this.#attempts.size === 0) this.issueTicket();
        else for (const attempt of this.#attempts.values()) this.#sendStep(attempt, pending);
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Puts a new ticket on the queue and invalidates all older ones. */
  issueTicket(): void {
    this.#generation += 1;
    this.#ticketIssuedAt = performance.now();
    const generation = this.#generation;
    this.#withdrawTicket?.();
    this.#withdrawTicket = undefined;
    this.#issuer.issue(this).then(
      (withdraw) => {
        if (this.#claimedGeneration >= generation) return;
        if (this.#isClosed || this.#generation !== generation) withdraw();
        else this.#withdrawTicket = withdraw;
      },
      (error: unknown) => {
        if (this.#generation === generation && this.isWaiting) this.fail(error);
      },
    );
  }

  /**
   * Issues another ticket when all workers on the step have stopped announcing themselves. The first result counts.
   * NATS redelivers the ticket of such a worker, too, but not reliably.
   */
  replaceSilentWorkers(isSilent: (worker: string) => boolean): void {
    if (this.#pending === undefined || this.#areAllSilent || this.#attemptsMade >= MAX_ATTEMPTS) return;
    for (const attempt of this.#attempts.values()) {
      const { worker } = attempt.stream;
      if (worker !== undefined && isSilent(worker)) attempt.isSilent = true;
    }
    if (this.#areAllSilent) this.issueTicket();
  }

  get #areAllSilent(): boolean {
    return this.#attempts.size > 0 && [...this.#attempts.values()].every(({ isSilent }) => isSilent);
  }

  /**
   * Claims a ticket for a worker. Returns the number of its attempt, or `undefined` when the ticket is no longer valid.
   */
  claim(generation: number, isRedelivered: boolean, stream: ControlStreamWriter): number | undefined {
    const pending = this.#pending;
    if (pending === undefined || generation !== this.#generation || this.#attemptsMade >= MAX_ATTEMPTS) {
      return undefined;
    }
    // The same ticket was claimed twice, although its first worker is still connected.
    if (this.#attempts.size > 0 && !isRedelivered && !this.#areAllSilent) return undefined;
    const waitedMs = performance.now() - pending.since;
    this.#issuer.onClaimed(this, { worker: stream.worker, waitedMs, isFirst: this.#attemptsMade === 0 });
    this.#attemptsMade += 1;
    this.#claimedGeneration = generation;
    this.#withdrawTicket = undefined;
    // Numbers are never reused, so that a token of one attempt isn't valid for another.
    this.#lastAttempt += 1;
    const attempt: WorkerAttempt = { number: this.#lastAttempt, stream };
    this.#attempts.set(attempt.number, attempt);
    this.#sendStep(attempt, pending);
    return attempt.number;
  }

  /** Ends an attempt whose worker disconnected, sent invalid data or can't do the step. Another worker may try. */
  loseAttempt(number: number, reason: string, failure?: StepFailure): void {
    const attempt = this.#attempts.get(number);
    if (attempt === undefined) return;
    this.#end(attempt);
    if (!this.isWaiting) return;
    this.#issuer.onAttemptLost(this, { worker: attempt.stream.worker, reason });
    if (this.#attemptsMade < MAX_ATTEMPTS) this.issueTicket();
    else this.fail(lostTooOften(failure));
  }

  /** Returns false when the probe is no longer needed: another worker was faster, or the client has left. */
  completeProbe(attempt: number, probe: AssetProbe): boolean {
    const pending = this.#pending;
    if (pending?.type !== 'probe' || !this.#complete(attempt)) return false;
    pending.resolve(probe);
    return true;
  }

  /** Works like `completeProbe`. */
  completeRender(attempt: number, facts: RenderFacts | Promise<RenderFacts>): boolean {
    const pending = this.#pending;
    if (pending?.type !== 'render' || !this.#complete(attempt)) return false;
    pending.resolve(facts);
    return true;
  }

  /** Ends all attempts but the one whose result counts. */
  #complete(number: number): boolean {
    const winner = this.#attempts.get(number);
    if (winner === undefined) return false;
    this.#pending = undefined;
    for (const attempt of this.#attempts.values()) {
      clearTimeout(attempt.watchdog);
      if (attempt !== winner) this.#end(attempt);
    }
    return true;
  }

  fail(reason: unknown): void {
    const pending = this.#pending;
    this.#pending = undefined;
    this.close();
    pending?.reject(reason);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // A ticket that stays on the queue would cost a worker an unnecessary request.
    this.#withdrawTicket?.();
    for (const attempt of this.#attempts.values()) this.#end(attempt);
    this.#pending?.reject(new AppError('shutting_down', 'The service is shutting down. Try again shortly.'));
    this.#pending = undefined;
  }

  #sendStep(attempt: WorkerAttempt, { step, limitMs, onProgress }: StepRequest): void {
    const validMs = limitMs + TRANSFER_MS;
    const token = this.#issuer.attemptToken(this, attempt.number, validMs);
    clearTimeout(attempt.watchdog);
    attempt.watchdog = setTimeout(() => this.loseAttempt(attempt.number, 'timed out'), validMs);
    const asked = onProgress && step.type === 'render' ? { ...step, wantsProgress: true as const } : step;
    attempt.stream.send({ type: 'step', attempt: attempt.number, token, step: asked });
  }

  #end(attempt: WorkerAttempt): void {
    clearTimeout(attempt.watchdog);
    this.#attempts.delete(attempt.number);
    attempt.stream.close();
  }
}

function lostTooOften(failure: StepFailure | undefined): AppError {
  const message = failure?.message ?? 'The render was interrupted several times. Try again shortly.';
  return new AppError(failure?.code ?? 'renderer_unavailable', message, { retryAfterSeconds: 2 });
}
