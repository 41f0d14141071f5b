// `Idempotency-Key`: a request that is sent twice is rendered and charged once.

import { setTimeout } from 'node:timers/promises';
import type { AppError } from '../../shared/errors.ts';
import { must } from '../../shared/must.ts';
import type { LazyDirectory } from '../../engine/media/work-area.ts';
import type { Claim, Idempotency } from '../store/requests/idempotency.ts';
import type { Remembered } from '../store/ledger/holds.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Caller } from '../account/caller.ts';
import { refusalFacts, refusalIn, refusalOfProblem } from './charged-refusal.ts';
import { asyncFingerprint, waitingFingerprint } from './fingerprint.ts';
import { afterOther, keyInFlight, keyMismatch } from './key-in-use.ts';
import type { ReadRequest } from './received-form.ts';
import { parseResult } from './render-result.ts';
import type { StoredResults } from './stored-results.ts';
import type { ReplayCache } from './replay-cache.ts';
import type { RenderHeaders } from './render-headers.ts';

const SETTLE_WAIT_MS = 1_000;

/** Marks the response to a repeated request. */
export const REPLAYED = { 'idempotency-replayed': 'true' };

/** The first request with the same key. */
export interface Replay {
  readonly renderId: string;
  readonly headers: RenderHeaders;
  /** The hash of a fetched asset. */
  readonly sha256?: string;
  /**
   * Restores the file into the directory of the request, where no other server can evict it. Undefined when it has to be
   * rendered again.
   */
  restore(): Promise<string | undefined>;
}

/** A request that may share its idempotency key with others. */
export interface IdempotentRequest {
  /** Set when the first request was refused and charged. This one is refused, too, and free. */
  readonly refusal?: AppError | undefined;
  /** Set when the request was delivered or stored before. It is free then. */
  readonly replay: Replay | undefined;
  /** Marks the delivery as running until the returned function is called; see `#claim`. */
  startDelivery(): () => void;
  /** Caches the delivered file. A failure is logged and does not fail the delivery. */
  keep(file: string): Promise<void>;
  /**
   * Returns the record that `settle` stores, so that the next request with the key finds it. `sha256` is that of a
   * fetched asset, because the same URL may return another file later, which must not be free.
   */
  remember(headers: RenderHeaders, sha256: string | undefined): Remembered | undefined;
  /** Returns the record of a refusal that is charged. */
  rememberRefusal(error: AppError): Remembered | undefined;
  /** Frees the key after a failure. Never throws, because the caller must see the first error. */
  abandon(): Promise<void>;
}

export interface IdempotencyOptions {
  readonly store: Idempotency;
  readonly replayCache: ReplayCache;
  readonly results: StoredResults;
  readonly logger: Logger;
}

/** A request with a key, which is undefined without the header. */
export interface KeyedRequest {
  readonly key: string | undefined;
  readonly caller: Caller;
  readonly read: Pick<ReadRequest, 'values' | 'asset'>;
  readonly renderId: string;
  readonly directory: LazyDirectory;
  readonly signal: AbortSignal;
}

export class IdempotencyKeys {
  readonly #store: Idempotency;
  readonly #replayCache: ReplayCache;
  readonly #results: StoredResults;
  readonly #logger: Logger;
  /** Deliveries that this process is sending, by account and key. */
  readonly #deliveries = new Map<string, Promise<void>>();

  constructor({ store, replayCache, results, logger }: IdempotencyOptions) {
    this.#store = store;
    this.#replayCache = replayCache;
    this.#results = results;
    this.#logger = logger;
  }

  /**
   * Throws while the first request with the key is running, and when the key belongs to a different request. A first request
   * that was asynchronous is waited for: a client that repeats it without `async` wants the file.
   */
  async claim(request: KeyedRequest): Promise<IdempotentRequest> {
    const { key, caller, read, renderId, directory, signal } = request;
    if (key === undefined) return WITHOUT_KEY;
    // A test key gets other bytes, so its idempotency keys are kept apart.
    const slot: KeySlot = { accountId: caller.accountId, key: `${caller.mode}:${key}` };
    const claim = await afterOther(async () => {
      const claimed = await this.#claim(slot, read, renderId);
      return claimed.kind === 'rendering' ? undefined : claimed;
    }, signal);
    switch (claim.kind) {
      case 'in flight':
        throw keyInFlight();
      case 'mismatch':
        throw keyMismatch();
      case 'new':
        return this.#firstRequest(slot, renderId);
      case 'done':
        return this.#repeatedRequest(claim, directory);
      case 'stored':
        return await this.#storedRequest(claim.renderId, request);
    }
  }

  #firstRequest(slot: KeySlot, renderId: string): IdempotentRequest {
    return {
      replay: undefined,
      startDelivery: () => this.#startDelivery(slot),
      keep: async (file) => await this.#keep(renderId, file),
      remember: (headers, sha256) => ({ ...slot, facts: JSON.stringify({ ...headers, sha256 }) }),
      rememberRefusal: (error) => ({ ...slot, facts: refusalFacts(error) }),
      abandon: async () => {
        try {
          await this.#store.abandon(slot.accountId, slot.key, renderId);
        } catch (error) {
          this.#logger.warn({ renderId, accountId: slot.accountId, err: error }, 'idempotency key not released');
        }
      },
    };
  }

  #repeatedRequest(
    { renderId, facts }: Extract<Claim, { readonly kind: 'done' }>,
    directory: LazyDirectory,
  ): IdempotentRequest {
    const refusal = refusalIn(facts);
    if (refusal) return { ...WITHOUT_KEY, refusal };
    const { sha256, ...headers } = JSON.parse(facts) as RenderHeaders & { readonly sha256?: string };
    const restore = async (): Promise<string | undefined> => {
      await directory.make();
      const copy = directory.file('replay');
      return (await this.#replayCache.restore(renderId, copy)) ? copy : undefined;
    };
    return {
      ...WITHOUT_KEY,
      replay: { renderId, headers, ...(sha256 !== undefined && { sha256 }), restore },
      keep: async (again) => await this.#keep(renderId, again),
    };
  }

  /** The first request was asynchronous, and its render has succeeded or was charged. */
  async #storedRequest(renderId: string, { caller, directory, signal }: KeyedRequest): Promise<IdempotentRequest> {
    const render = must(await this.#results.find(caller, renderId), 'the render of the first request');
    if (render.result === undefined) {
      return { ...WITHOUT_KEY, refusal: refusalOfProblem(must(render.error, 'the error of a render that failed')) };
    }
    const { headers } = parseResult(render.result);
    const restore = async (): Promise<string> => {
      await directory.make();
      const copy = directory.file('replay');
      await this.#results.restore(render, copy, signal);
      return copy;
    };
    return { ...WITHOUT_KEY, replay: { renderId, headers, restore } };
  }

  /**
   * A caller that has received the last byte may repeat the request before the charge is on disk. The charge is only a
   * moment away, so the repeated request waits for the running delivery.
   */
  async #claim({ accountId, key }: KeySlot, read: KeyedRequest['read'], renderId: string): Promise<Claim> {
    const prints = { fingerprint: waitingFingerprint(read), asyncFingerprint: asyncFingerprint(read) };
    const claim = await this.#store.claim(accountId, key, prints, renderId);
    const delivery = this.#deliveries.get(nameOf({ accountId, key }));
    if (claim.kind !== 'in flight' || delivery === undefined) return claim;
    await Promise.race([delivery, setTimeout(SETTLE_WAIT_MS)]);
    return await this.#store.claim(accountId, key, prints, renderId);
  }

  #startDelivery(slot: KeySlot): () => void {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#deliveries.set(nameOf(slot), ended);
    return () => {
      this.#deliveries.delete(nameOf(slot));
      end();
    };
  }

  async #keep(renderId: string, file: string): Promise<void> {
    try {
      await this.#replayCache.keep(renderId, file);
    } catch (error) {
      this.#logger.warn({ renderId, err: error }, 'replay cache write failed');
    }
  }
}

type KeySlot = Pick<Remembered, 'accountId' | 'key'>;

function nameOf({ accountId, key }: KeySlot): string {
  return `${accountId} ${key}`;
}

const WITHOUT_KEY: IdempotentRequest = {
  replay: undefined,
  startDelivery: () => () => undefined,
  keep: async () => undefined,
  remember: () => undefined,
  rememberRefusal: () => undefined,
  abandon: async () => undefined,
};
