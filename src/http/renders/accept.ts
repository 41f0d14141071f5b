// Accepts an asynchronous request: its file goes to storage and its render into the database, then the response is
// sent. From then on the render doesn't depend on this server.

import type { Renders } from '../../store/renders/renders.ts';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';
import { must } from '../../primitives/must.ts';
import type { ObjectStorage } from '../../storage/object-storage.ts';
import {
  acceptedRecord,
  type OverLimit,
  type Acceptance,
  type AcceptedKey,
  type AcceptOptions,
  type NewRender,
  type StoredAsset,
  type StoredLimits,
} from '../../store/renders/render.ts';
import { storageError, storageLimitsOf } from '../../renders/storage-room.ts';
import { TEST_RENDERS_PER_DAY, testRendersExceeded } from '../../renders/test-render-limit.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Caller } from '../../account/caller.ts';
import type { Marketplace } from '../access/marketplace.ts';
import type { ParsedRequest, UnfetchedRequest } from '../../renders/parse.ts';
import type { Upload } from '../overlay/receive.ts';
import type { RequestSignal } from '../transport/request-signal.ts';
import type { LinkBase } from './link-base.ts';
import { RENDERS_PATH, renderToJson } from '../../renders/render-view.ts';
import { asReplay, asyncFingerprint, storeRequest, waitingFingerprint } from '../../renders/stored-request.ts';

export interface AcceptorOptions {
  readonly renders: Renders;
  readonly storage: ObjectStorage;
  readonly marketplace: Marketplace;
  readonly linkBase: LinkBase;
  readonly logger: Logger;
  /** The limit of all accounts together. */
  readonly serviceBytes: number;
  /** Called when there is new work. */
  readonly wake: () => void;
}

/** The part of a request that accepting it needs. */
export interface AsyncRequest {
  readonly caller: Caller;
  readonly idempotencyKey: string | undefined;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly lifetime: Pick<RequestSignal, 'signal'>;
}

const RETRY_AFTER_SECONDS = 2;
/** How often, and for how long, a request checks whether another one with the same key has ended. */
const WAIT_MS = 250;
const MAX_WAIT_MS = 300_000;
/**
 * The maximum number of renders with files to fetch, so that the hosts of one account can't take all connections of a
 * server.
 */
const MAX_FETCHES_PER_ACCOUNT = 16;

export class RenderAcceptor {
  readonly #options: AcceptorOptions;

  constructor(options: AcceptorOptions) {
    this.#options = options;
  }

  /** Throws when this server can't accept the request as an asynchronous one. */
  assertAvailable(request: FastifyRequest): void {
    const { marketplace, linkBase } = this.#options;
    linkBase.assertAvailable(request);
    if (!marketplace.isClaimed(request.headers)) return;
    const detail = 'Requests through the marketplace are billed by their response, so they must wait for the render.';
    throw new AppError('async_not_allowed', detail);
  }

  async accept(context: AsyncRequest, upload: Upload, parsed: ParsedRequest | UnfetchedRequest): Promise<void> {
    const { caller, idempotencyKey, request, reply, lifetime } = context;
    const { storage, linkBase } = this.#options;
    this.assertAvailable(request);
    const asset = assetOf(request.id, parsed);
    if (asset) await storage.put(asset.name, must(upload.asset, 'the uploaded file').path, lifetime.signal);
    const render = newRender(caller, request.id, { request: storeRequest(upload), parsed, asset });
    const at = new Date();
    const idempotency = idempotencyKey === undefined ? undefined : keyOf(caller, idempotencyKey, upload);
    const acceptance = await this.#addOrWait(caller, render, { at, idempotency }, lifetime.signal).catch(
      async (error: unknown) => {
        // If the database refused the render, the object is deleted now. If the outcome is unknown, the sweep handles
        // it with the record.
        if (error instanceof AppError && error.code !== 'storage_unavailable') await this.#discard(asset);
        throw error;
      },
    );
    if (acceptance.isReplay) await this.#discard(asset);
    const record = acceptance.isReplay
      ? await this.#options.renders.find({ accountId: caller.accountId }, acceptance.id)
      : acceptedRecord(render, at);
    reply.headers({
      ...(acceptance.isReplay && { 'idempotency-replayed': 'true' }),
      'x-render-id': acceptance.id,
      location: `${RENDERS_PATH}/${acceptance.id}`,
      'preference-applied': 'respond-async',
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    });
    reply.code(202).send(JSON.stringify(renderToJson(must(record, 'the accepted render'), linkBase.urlFor(request))));
  }

  /**
   * The same request may be running without `async`. Its end decides whether this one is rendered, and which one is
   * charged.
   */
  async #addOrWait(
    caller: Caller,
    render: NewRender,
    { at, idempotency }: { readonly at: Date; readonly idempotency: AcceptedKey | undefined },
    signal: AbortSignal,
  ): Promise<{ readonly id: string; readonly isReplay: boolean }> {
    if (idempotency === undefined) return await this.add(caller, [render], { at });
    const until = performance.now() + MAX_WAIT_MS;
    for (;;) {
      try {
        return await this.add(caller, [render], { at, idempotency });
      } catch (error) {
        const isRunning = error instanceof AppError && error.code === 'idempotency_in_flight';
        if (!isRunning || performance.now() > until) throw error;
      }
      await wait(WAIT_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  /** Stores the renders, or finds those that an earlier request with the same idempotency key stored. */
  async add(
    caller: Caller,
    renders: readonly NewRender[],
    options: Omit<AcceptOptions, 'limits'>,
  ): Promise<{ readonly id: string; readonly isReplay: boolean }> {
    const { serviceBytes } = this.#options;
    const storage = storageLimitsOf(caller, { serviceBytes, of: 'request' });
    const { queuedRenders } = caller.plan.limits;
    const limits = { ...storage, queuedRenders, testRendersPerDay: TEST_RENDERS_PER_DAY };
    const acceptance = await this.#options.renders.accept(renders, { ...options, limits });
    if (acceptance.kind === 'replayed') return { id: acceptance.id, isReplay: true };
    if (acceptance.kind === 'delivered') {
      const repeated = renders.map((render) => ({ ...render, request: asReplay(render.request, acceptance.facts) }));
      const idempotency = { ...must(options.idempotency, 'the key of a repeated request'), isRepeat: true };
      return await this.add(caller, repeated, { ...options, idempotency });
    }
    if (acceptance.kind !== 'accepted') throw refusalOf(acceptance, limits);
    this.#options.wake();
    return { id: options.batch?.id ?? must(renders[0], 'a render').id, isReplay: false };
  }

  async #discard(asset: StoredAsset | undefined): Promise<void> {
    if (asset === undefined) return;
    await this.#options.storage.delete(asset.name).catch((error: unknown) => {
      this.#options.logger.warn({ object: asset.name, err: error }, 'stored object not deleted, left to the sweep');
    });
  }
}

function keyOf({ mode }: Caller, key: string, upload: Upload): AcceptedKey {
  const fingerprints = { fingerprint: asyncFingerprint(upload), waitingFingerprint: waitingFingerprint(upload) };
  return { key: `${mode}:${key}`, ...fingerprints };
}

function assetOf(renderId: string, parsed: ParsedRequest | UnfetchedRequest): StoredAsset | undefined {
  if ('assetUrl' in parsed || parsed.asset === undefined) return undefined;
  const { format, bytes, sha256 } = parsed.asset;
  return { name: `assets/${renderId}`, format, bytes, sha256 };
}

interface RenderParts {
  readonly request: string;
  readonly parsed: ParsedRequest | UnfetchedRequest;
  readonly asset: StoredAsset | undefined;
  readonly batchId?: string;
}

export function newRender(caller: Caller, id: string, { request, parsed, asset, batchId }: RenderParts): NewRender {
  const { accountId, keyId, mode, plan, subscription } = caller;
  const isFetched = 'assetUrl' in parsed;
  return {
    id,
    accountId,
    keyId,
    mode,
    batchId,
    request,
    asset,
    lane: isFetched ? 'fetch' : (parsed.asset?.kind ?? 'image'),
    plan: plan.name,
    period: subscription.period,
    renews: subscription.renews,
    maxRunning: isFetched ? Math.min(plan.concurrentRenders, MAX_FETCHES_PER_ACCOUNT) : plan.concurrentRenders,
  };
}

function refusalOf(
  acceptance: Exclude<Acceptance, { readonly kind: 'accepted' | 'replayed' | 'delivered' }>,
  limits: StoredLimits,
): AppError {
  switch (acceptance.kind) {
    case 'mismatch':
      return new AppError('idempotency_mismatch', 'This idempotency key was used for a different request.');
    case 'in flight':
      return new AppError('idempotency_in_flight', 'A request with this idempotency key is still in progress.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    case 'over limit':
      return overLimit(acceptance, limits);
  }
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
