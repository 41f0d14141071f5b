// `Idempotency-Key`: a request that is sent twice is rendered and charged once.

import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { AppError } from '../errors.ts';
import type { LazyDirectory } from '../media/work-area.ts';
import type { Claim, Idempotency } from '../store/requests/idempotency.ts';
import type { Remembered } from '../store/ledger/holds.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Caller } from '../account/caller.ts';
import type { ReceivedForm } from './received-form.ts';
import type { ReplayCache } from './replay-cache.ts';
import type { RenderHeaders } from './render-headers.ts';

const RETRY_AFTER_SECONDS = 2;
const SETTLE_WAIT_MS = 1_000;

/** Marks the response to a repeated request. */
export const REPLAYED = { 'idempotency-replayed': 'true' };

/** A request that may share its idempotency key with others. */
export interface IdempotentRequest {
  /** Set when the request was already delivered. Then it is free, and its file may still be cached. */
  readonly replay:
    | { readonly renderId: string; readonly headers: RenderHeaders; readonly file?: string; readonly sha256?: string }
    | undefined;
  /** Marks the delivery as running until the returned function is called; see `#claim`. */
  startDelivery(): () => void;
  /** Caches the delivered file. A failure is logged and does not fail the delivery. */
  keep(file: string): Promise<void>;
  /**
   * Returns the record that `settle` stores, so that the next request with the key finds it. `sha256` is that of a
   * fetched asset, because the same URL may return another file later, which must not be free.
   */
  remember(headers: RenderHeaders, sha256: string | undefined): Remembered | undefined;
  /** Frees the key after a failure. Never throws, because the caller must see the first error. */
  abandon(): Promise<void>;
}

export class IdempotencyKeys {
  readonly #store: Idempotency;
  readonly #replayCache: ReplayCache;
  readonly #logger: Logger;
  /** Deliveries that this process is sending, by account and key. */
  readonly #deliveries = new Map<string, Promise<void>>();

  constructor(store: Idempotency, replayCache: ReplayCache, logger: Logger) {
    this.#store = store;
    this.#replayCache = replayCache;
    this.#logger = logger;
  }

  /**
   * Throws while the first request with the key is running, and when the key belongs to a different request. A cached
   * file is restored into the directory, where no other server can evict it.
   */
  async claim(
    caller: Caller,
    key: string | undefined,
    form: ReceivedForm,
    renderId: string,
    directory: LazyDirectory,
  ): Promise<IdempotentRequest> {
    if (key === undefined) return WITHOUT_KEY;
    // A test key gets other bytes, so its idempotency keys are kept apart.
    const slot: KeySlot = { accountId: caller.accountId, key: `${caller.mode}:${key}` };
    const claim = await this.#claim(slot, fingerprint(form), renderId);
    switch (claim.kind) {
      case 'in flight':
        throw new AppError('idempotency_in_flight', 'A request with this idempotency key is still in progress.', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      case 'mismatch':
        throw new AppError('idempotency_mismatch', 'This idempotency key was used for a different request.');
      case 'new':
        return this.#firstRequest(slot, renderId);
      case 'done':
        return await this.#repeatedRequest(claim, directory);
    }
  }

  #firstRequest(slot: KeySlot, renderId: string): IdempotentRequest {
    return {
      replay: undefined,
      startDelivery: () => this.#startDelivery(slot),
      keep: async (file) => await this.#keep(renderId, file),
      remember: (headers, sha256) => ({ ...slot, facts: JSON.stringify({ ...headers, sha256 }) }),
      abandon: async () => {
        try {
          await this.#store.abandon(slot.accountId, slot.key, renderId);
        } catch (error) {
          this.#logger.warn({ renderId, accountId: slot.accountId, err: error }, 'idempotency key not released');
        }
      },
    };
  }

  async #repeatedRequest(
    { renderId, facts }: Extract<Claim, { readonly kind: 'done' }>,
    directory: LazyDirectory,
  ): Promise<IdempotentRequest> {
    await directory.make();
    const copy = directory.file('replay');
    const file = (await this.#replayCache.restore(renderId, copy)) ? copy : undefined;
    const { sha256, ...headers } = JSON.parse(facts) as RenderHeaders & { readonly sha256?: string };
    return {
      ...WITHOUT_KEY,
      replay: { renderId, headers, ...(sha256 !== undefined && { sha256 }), ...(file !== undefined && { file }) },
      keep: async (again) => await this.#keep(renderId, again),
    };
  }

  /**
   * A caller that has received the last byte may repeat the request before the charge is on disk. The charge is only a
   * moment away, so the repeated request waits for the running delivery.
   */
  async #claim(slot: KeySlot, print: string, renderId: string): Promise<Claim> {
    const claim = await this.#store.claim(slot.accountId, slot.key, print, renderId);
    const delivery = this.#deliveries.get(nameOf(slot));
    if (claim.kind !== 'in flight' || delivery === undefined) return claim;
    await Promise.race([delivery, setTimeout(SETTLE_WAIT_MS)]);
    return await this.#store.claim(slot.accountId, slot.key, print, renderId);
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
  abandon: async () => undefined,
};

/** Returns the same fingerprint for fields in any order. It covers the bytes of the asset. */
export function fingerprint({ fields, asset }: Pick<ReceivedForm, 'fields' | 'asset'>): string {
  const pairs = fields.map(({ name, value }) => JSON.stringify([name, value])).toSorted();
  return createHash('sha256')
    .update(JSON.stringify([pairs, asset?.sha256 ?? null]))
    .digest('hex');
}
