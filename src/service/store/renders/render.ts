// The interface of renders that outlive their request: accepted ones that wait or run, and finished ones whose result can be
// downloaded. A row is the source of truth. A server that works on it has a lease on the row, so a crash of the server loses
// nothing: another one claims the row when the lease has run out.

import type { KeyMode } from '../../account/api-key.ts';
import type { Period } from '../../account/period.ts';
import { OutcomeUnknown } from '../engine.ts';
import type { Remembered } from '../ledger/holds.ts';
import type { Attempt } from './lock-attempt.ts';

export const RENDER_STATUSES = ['queued', 'rendering', 'succeeded', 'failed', 'canceled'] as const;
export type RenderStatus = (typeof RENDER_STATUSES)[number];

/**
 * The resource that a render waits for: workers of one kind, with a URL the file that determines the kind, or, when it is
 * rendered, the receiver of its file.
 */
export const RENDER_LANES = ['image', 'video', 'fetch', 'put'] as const;
export type RenderLane = (typeof RENDER_LANES)[number];

/** An object in storage. */
export interface StoredAsset {
  readonly name: string;
  readonly format: string;
  readonly bytes: number;
  /** Hexadecimal. Set only for requests with an idempotency key. */
  readonly sha256: string | undefined;
}

/** Facts of the render that never change. */
interface RenderOrigin {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string | undefined;
  readonly mode: KeyMode;
  readonly batchId: string | undefined;
  /** The request as JSON; see `renders/stored-request.ts`. */
  readonly request: string;
  /** The plan at the time of acceptance, and the period that is charged. */
  readonly plan: string;
  readonly period: Period;
  readonly renews: boolean;
  /** The object that says where the file is sent to, for a render whose file isn't kept. */
  readonly target?: string | undefined;
}

export interface NewRender extends RenderOrigin {
  readonly lane: Exclude<RenderLane, 'put'>;
  /** The origin of the URL that the file is sent to. */
  readonly receiver?: string | undefined;
  readonly asset: StoredAsset | undefined;
  /** How many renders of the account may run at once. */
  readonly maxRunning: number;
}

export interface StoredOutput {
  /** The name of the object in storage. */
  readonly name: string;
  readonly bytes: number;
  /** The secret part of its link. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** The result of a successful render. */
export interface RenderSuccess {
  readonly output: StoredOutput;
  /** The response as JSON. */
  readonly result: string;
  readonly sourceType: string;
  readonly credits: number;
  readonly durationMs: number;
}

export interface RenderFailure {
  /** The problem as JSON. */
  readonly error: string;
  readonly code: string;
  readonly durationMs: number | undefined;
  /** True for a failure that is charged. */
  readonly isCharged?: boolean;
}

export interface RenderRecord extends RenderOrigin {
  readonly status: RenderStatus;
  /** From 0 to 1. */
  readonly progress: number;
  readonly asset: StoredAsset | undefined;
  /** Still set when the object has been deleted. */
  readonly output: StoredOutput | undefined;
  readonly result: string | undefined;
  readonly error: string | undefined;
  readonly sourceType: string | undefined;
  readonly credits: number | undefined;
  readonly createdAt: Date;
  readonly startedAt: Date | undefined;
  readonly finishedAt: Date | undefined;
}

export interface ClaimedRender {
  readonly attempt: Attempt;
  readonly render: RenderRecord;
}

/** The limits of an account at any time. */
export interface StoredLimits {
  readonly queuedRenders: number;
  readonly storedBytes: number;
  /** The bytes of all accounts together. */
  readonly serviceBytes: number;
  /** Renders with a test key since midnight UTC, including those made inside their requests. */
  readonly testRendersPerDay: number;
}

export interface NewRenderBatch {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string | undefined;
  readonly mode: KeyMode;
}

export interface AcceptOptions {
  readonly limits: StoredLimits;
  /** The time of acceptance, if the caller has to know it; see `acceptedRecord`. */
  readonly at?: Date;
  readonly batch?: NewRenderBatch;
  readonly idempotency?: AcceptedKey;
}

export interface AcceptedKey {
  readonly key: string;
  readonly fingerprint: string;
  /** The fingerprint of the same request without `async`. Undefined for a batch. */
  readonly waitingFingerprint?: string;
  /** The renders repeat a request that was delivered with this key. Without it, nothing is accepted for such a key. */
  readonly isRepeat?: boolean;
}

export type Acceptance =
  | { readonly kind: 'accepted' }
  /** The same request was accepted before, as the render or batch with this id. */
  | { readonly kind: 'replayed'; readonly id: string }
  /** The same request was delivered without `async`, and charged. `facts` are those of `Remembered`. */
  | { readonly kind: 'delivered'; readonly facts: string }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'in flight' }
  | OverLimit;

/** A limit that one more would exceed. */
export interface OverLimit<What = keyof StoredLimits> {
  readonly kind: 'over limit';
  readonly what: What;
  readonly actual: number;
}

/** The storage limits, also for a render that never waits in the queue. */
export type StorageLimits = Pick<StoredLimits, 'storedBytes' | 'serviceBytes'>;
export type OverStorage = OverLimit<keyof StorageLimits>;

/** The bytes that a request would add to the storage of an account. */
export interface StorageDemand {
  readonly accountId: string;
  readonly bytes: number;
}

export interface FinishedOptions {
  readonly limits: StorageLimits;
  /** When the render ended, if the caller has to know it; see `finishedRecord`. */
  readonly at?: Date;
  readonly remember?: Remembered | undefined;
}

export type Addition = { readonly kind: 'added' } | { readonly kind: 'hold gone' } | OverStorage;

/** How a delivery ended, for good. */
export interface DeliveryEnd {
  /** The credits that were charged. */
  readonly credits: number;
  /** False if its hold was lost, so that nothing could be charged. Sending the file again would change nothing. */
  readonly hadHold: boolean;
}

/** The renders that a caller may see: those of its account, for some keys only a part. */
export interface RenderScope {
  readonly accountId: string;
  readonly mode?: KeyMode;
  readonly keyId?: string;
}

export interface RenderPage {
  readonly limit: number;
  /** The id of the last render of the page before. */
  readonly after?: string | undefined;
  readonly batchId?: string | undefined;
  readonly status?: RenderStatus | undefined;
  /** The day of acceptance: `YYYY-MM-DD` in UTC. */
  readonly day?: string | undefined;
}

/** An object that is no longer needed. */
export interface ExpiredObject {
  readonly renderId: string;
  readonly kind: 'asset' | 'output' | 'target';
  readonly name: string;
}

export const RENDER_EVENTS = ['render.succeeded', 'render.failed', 'render.canceled', 'batch.completed'] as const;

/** An event that webhook receivers may subscribe to. */
export interface RenderEvent {
  readonly id: string;
  readonly accountId: string;
  /** For `batch.completed`, the id of the batch. */
  readonly renderId: string;
  readonly type: (typeof RENDER_EVENTS)[number];
  readonly createdAt: Date;
}

/**
 * Returns the record of a render that has just been accepted. A response that needs no second read can't fail after the
 * commit.
 */
export function acceptedRecord(render: NewRender, at: Date): RenderRecord {
  const { lane, maxRunning: _maxRunning, receiver: _receiver, ...origin } = render;
  return {
    ...origin,
    status: 'queued',
    progress: 0,
    output: undefined,
    result: undefined,
    error: undefined,
    credits: undefined,
    // A caption without an asset counts as an image.
    sourceType: lane === 'fetch' ? undefined : lane,
    createdAt: at,
    startedAt: undefined,
    finishedAt: undefined,
  };
}

/** Returns the record of a render that has just been added with `addFinished`. */
export function finishedRecord(render: NewRender, success: RenderSuccess, at: Date): RenderRecord {
  const { output, result, sourceType, credits } = success;
  const times = { createdAt: at, startedAt: at, finishedAt: at };
  const ending = { status: 'succeeded', progress: 1, output, result, sourceType, credits } as const;
  return { ...acceptedRecord(render, at), ...ending, ...times };
}

/** Returns true when a write that threw this error may have been made nevertheless. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof OutcomeUnknown;
}
