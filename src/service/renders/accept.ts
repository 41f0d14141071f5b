// Accepting an asynchronous request: its file goes to storage and its render into the database. From then on the render
// doesn't depend on this server.

import type { Caller } from '../account/caller.ts';
import type { PutRequest } from '../../engine/caption/put-fields.ts';
import { AppError } from '../../shared/errors.ts';
import { must } from '../../shared/must.ts';
import { Semaphore } from '../../shared/semaphore.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import {
  acceptedRecord,
  type AcceptedKey,
  type AcceptOptions,
  type NewRender,
  type OverLimit,
  type RenderRecord,
  type StoredAsset,
  type StoredLimits,
} from '../store/renders/render.ts';
import type { Renders } from '../store/renders/renders.ts';
import type { Logger } from '../telemetry/logger.ts';
import { refusalIn } from './charged-refusal.ts';
import { asyncFingerprint, batchFingerprint, waitingFingerprint } from './fingerprint.ts';
import { afterOther, keyInFlight, keyMismatch } from './key-in-use.ts';
import { newRender } from './new-render.ts';
import type { ParsedRequest, UnfetchedRequest } from './parse.ts';
import { type PutTargets, targetOf } from './put-targets.ts';
import type { ReadRequest } from './received-form.ts';
import { MAX_BATCH } from './render-view.ts';
import { storageError, storageLimitsOf } from '../limits/storage-limits.ts';
import { asReplay } from './stored-request.ts';
import { TEST_RENDERS_PER_DAY, testRendersExceeded } from './test-render-limit.ts';

export interface AcceptorOptions {
  readonly renders: Renders;
  readonly storage: ObjectStorage;
  readonly targets: PutTargets;
  readonly logger: Logger;
  /** The limit of all accounts together. */
  readonly serviceBytes: number;
  /** Called when there is new work. */
  readonly wake: () => void;
}

/** A request that doesn't wait for its render. */
export interface AsyncRequest {
  readonly renderId: string;
  readonly caller: Caller;
  readonly idempotencyKey: string | undefined;
  readonly read: ReadRequest;
  readonly parsed: ParsedRequest | UnfetchedRequest;
  readonly signal: AbortSignal;
}

/** Requests that are accepted together, or not at all. */
export interface AsyncBatch extends Pick<AsyncRequest, 'caller' | 'idempotencyKey'> {
  readonly batchId: string;
  readonly read: readonly ReadRequest[];
  readonly requests: readonly BatchedRequest[];
}

export interface BatchedRequest {
  readonly render: NewRender;
  /** Where its file is sent to. */
  readonly put: PutRequest | undefined;
}

export interface AcceptedBatch {
  readonly batchId: string;
  readonly renders: readonly RenderRecord[];
  readonly isReplay: boolean;
}

const RETRY_AFTER_SECONDS = 2;
const TARGETS_AT_ONCE = 8;

export class RenderAcceptor {
  readonly #options: AcceptorOptions;

  constructor(options: AcceptorOptions) {
    this.#options = options;
  }

  /** Returns the new render, or the one of an earlier request with the same idempotency key. */
  async accept(request: AsyncRequest): Promise<{ readonly render: RenderRecord; readonly isReplay: boolean }> {
    const { renderId, caller, read, parsed, signal } = request;
    const { renders, storage, targets } = this.#options;
    const asset = assetOf(renderId, parsed);
    const { put } = parsed.delivery;
    const objects = [...(asset ? [asset.name] : []), ...(put ? [targetOf(renderId)] : [])];
    if (asset) await storage.put(asset.name, must(read.asset, 'the uploaded file').path, signal);
    if (put) await targets.store(renderId, put, signal);
    const render = newRender(caller, renderId, { parsed, asset });
    const at = new Date();
    const { id, isReplay } = await this.#addOrWait(request, render, at).catch(async (error: unknown) => {
      // If the database refused the render, the object is deleted now. If the outcome is unknown, the sweep handles
      // it with the record.
      if (error instanceof AppError && error.code !== 'storage_unavailable') await this.#discard(objects);
      throw error;
    });
    if (!isReplay) return { render: acceptedRecord(render, at), isReplay };
    await this.#discard(objects);
    return { render: must(await renders.find({ accountId: caller.accountId }, id), 'the accepted render'), isReplay };
  }

  async acceptBatch({ batchId, caller, idempotencyKey, read, requests }: AsyncBatch): Promise<AcceptedBatch> {
    const { accountId, keyId, mode } = caller;
    const at = new Date();
    const fingerprint = batchFingerprint(read);
    const renders = requests.map(({ render }) => render);
    const objects = await this.#storeTargets(requests);
    const { id, isReplay } = await this.#add(caller, renders, {
      at,
      batch: { id: batchId, accountId, keyId, mode },
      ...(idempotencyKey !== undefined && { idempotency: { key: `${mode}:${idempotencyKey}`, fingerprint } }),
    }).catch(async (error: unknown) => {
      if (error instanceof AppError && error.code !== 'storage_unavailable') await this.#discard(objects);
      throw error;
    });
    if (isReplay) await this.#discard(objects);
    return {
      batchId: id,
      isReplay,
      renders: isReplay
        ? await this.#options.renders.list({ accountId }, { limit: MAX_BATCH, batchId: id })
        : renders.map((render) => acceptedRecord(render, at)),
    };
  }

  /** Returns the names of the stored objects. */
  async #storeTargets(requests: AsyncBatch['requests']): Promise<string[]> {
    const slots = new Semaphore({ permits: TARGETS_AT_ONCE });
    const stored = requests.map(async ({ render, put }) => {
      if (put === undefined) return [];
      await slots.run(async () => await this.#options.targets.store(render.id, put));
      return [targetOf(render.id)];
    });
    return (await Promise.all(stored)).flat();
  }

  /**
   * The same request may be running without `async`. Its end decides whether this one is rendered, and which one is
   * charged.
   */
  async #addOrWait(
    { caller, idempotencyKey, read, signal }: AsyncRequest,
    render: NewRender,
    at: Date,
  ): Promise<Added> {
    if (idempotencyKey === undefined) return await this.#add(caller, [render], { at });
    const idempotency = keyOf(caller, idempotencyKey, read);
    return await afterOther(async () => await this.#tryAdd(caller, [render], { at, idempotency }), signal);
  }

  async #add(caller: Caller, renders: readonly NewRender[], options: Omit<AcceptOptions, 'limits'>): Promise<Added> {
    const added = await this.#tryAdd(caller, renders, options);
    if (added === undefined) throw keyInFlight();
    return added;
  }

  /**
   * Stores the renders, or finds those that an earlier request with the same idempotency key stored. Undefined while such a
   * request is running.
   */
  async #tryAdd(
    caller: Caller,
    renders: readonly NewRender[],
    options: Omit<AcceptOptions, 'limits'>,
  ): Promise<Added | undefined> {
    const { serviceBytes } = this.#options;
    const storage = storageLimitsOf(caller, { serviceBytes, of: 'request' });
    const { queuedRenders } = caller.plan.limits;
    const limits = { ...storage, queuedRenders, testRendersPerDay: TEST_RENDERS_PER_DAY };
    const acceptance = await this.#options.renders.accept(renders, { ...options, limits });
    if (acceptance.kind === 'replayed') return { id: acceptance.id, isReplay: true };
    if (acceptance.kind === 'delivered') {
      const refusal = refusalIn(acceptance.facts);
      if (refusal) throw refusal;
      const repeated = renders.map((render) => ({ ...render, request: asReplay(render.request, acceptance.facts) }));
      const idempotency = { ...must(options.idempotency, 'the key of a repeated request'), isRepeat: true };
      return await this.#tryAdd(caller, repeated, { ...options, idempotency });
    }
    if (acceptance.kind === 'in flight') return undefined;
    if (acceptance.kind === 'mismatch') throw keyMismatch();
    if (acceptance.kind === 'over limit') throw overLimit(acceptance, limits);
    this.#options.wake();
    return { id: options.batch?.id ?? must(renders[0], 'a render').id, isReplay: false };
  }

  async #discard(objects: readonly string[]): Promise<void> {
    for (const object of objects) {
      await this.#options.storage.delete(object).catch((error: unknown) => {
        this.#options.logger.warn({ object, err: error }, 'stored object not deleted, left to the sweep');
      });
    }
  }
}

/** The id of the render or batch that was stored now, or by an earlier request with the same idempotency key. */
interface Added {
  readonly id: string;
  readonly isReplay: boolean;
}

function keyOf({ mode }: Caller, key: string, read: ReadRequest): AcceptedKey {
  const fingerprints = { fingerprint: asyncFingerprint(read), waitingFingerprint: waitingFingerprint(read) };
  return { key: `${mode}:${key}`, ...fingerprints };
}

function assetOf(renderId: string, parsed: ParsedRequest | UnfetchedRequest): StoredAsset | undefined {
  if ('assetUrl' in parsed || parsed.asset === undefined) return undefined;
  const { format, bytes, sha256 } = parsed.asset;
  return { name: `assets/${renderId}`, format, bytes, sha256 };
}

function overLimit({ kind, what, actual }: OverLimit, limits: StoredLimits): AppError {
  if (what === 'storedBytes' || what === 'serviceBytes') return storageError({ kind, what, actual }, limits);
  if (what === 'testRendersPerDay') return testRendersExceeded(actual);
  const limit = limits[what];
  const detail = `Your plan allows ${limit} asynchronous renders that wait or run; this request would make it ${actual}.`;
  return new AppError('too_many_queued', detail, {
    limit: { limit, actual },
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
