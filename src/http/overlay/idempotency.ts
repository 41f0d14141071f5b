// `Idempotency-Key`: the same request sent twice is rendered and charged once.

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { AppError } from '../../errors.ts';
import type { Claim, Idempotency, Remembered } from '../../store/store.ts';
import type { Caller } from '../access/caller.ts';
import type { ReceivedForm } from './receive.ts';
import type { ReplayCache } from './replay-cache.ts';
import type { RenderHeaders } from './send.ts';

const KEY = /^[\x20-\x7e]{1,255}$/u;
const RETRY_AFTER_SECONDS = 2;
const PATIENCE_MS = 1_000;

/** What this request is among those with its key. */
export interface IdempotentRequest {
  /** Set when it was delivered before: nothing is charged, and the file may still be there. */
  readonly before: { readonly renderId: string; readonly headers: RenderHeaders; readonly file?: string } | undefined;
  /** What `settle` notes, so that the next one finds it. */
  remember(headers: RenderHeaders): Remembered | undefined;
  /** Runs the delivery; whoever asks for the same meanwhile waits a moment for its end. */
  delivering(work: () => Promise<void>): Promise<void>;
  /** The delivered file, for the next one. A replayCache that fails is no reason to fail a delivery. */
  keep(file: string): Promise<void>;
  /** Came to nothing: the next one begins anew. */
  abandon(): Promise<void>;
}

/** Undefined without the header. Quotes around it, as the standard in the making wants them, make no difference. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const value = headers['idempotency-key'];
  if (value === undefined) return undefined;
  const key = typeof value === 'string' ? value.trim().replace(/^"(?<inner>.*)"$/u, '$<inner>') : '';
  if (KEY.test(key)) return key;
  throw new AppError('invalid_idempotency_key', 'The idempotency key must have 1 to 255 printable ASCII characters.');
}

export class IdempotencyKeys {
  readonly #idempotency: Idempotency;
  readonly #replayCache: ReplayCache;
  readonly #onReplayCacheError: (error: unknown) => void;
  /** Deliveries under way here, by account and key. */
  readonly #delivering = new Map<string, Promise<void>>();

  constructor(idempotency: Idempotency, replayCache: ReplayCache, onReplayCacheError: (error: unknown) => void) {
    this.#idempotency = idempotency;
    this.#replayCache = replayCache;
    this.#onReplayCacheError = onReplayCacheError;
  }

  /** Throws while the first one is under way, and when the key belongs to another request. */
  async begin(
    caller: Caller,
    key: string | undefined,
    form: ReceivedForm,
    renderId: string,
  ): Promise<IdempotentRequest> {
    if (key === undefined) return UNNAMED;
    // A test key renders something else, so it has keys of its own.
    const place: Place = { accountId: caller.accountId, key: `${caller.mode}:${key}` };
    const claim = await this.#claim(place, fingerprint(form), renderId);
    switch (claim.kind) {
      case 'in flight':
        throw new AppError('idempotency_in_flight', 'A request with this idempotency key is still under way.', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      case 'mismatch':
        throw new AppError('idempotency_mismatch', 'This idempotency key belongs to a different request.');
      case 'new':
        return {
          before: undefined,
          delivering: async (work) => await this.#deliver(place, work),
          remember: (headers) => ({ ...place, facts: JSON.stringify(headers) }),
          keep: async (file) => await this.#keep(renderId, file),
          abandon: async () => await this.#idempotency.abandon(place.accountId, place.key, renderId),
        };
      case 'done': {
        const file = this.#replayCache.find(claim.renderId);
        const headers = JSON.parse(claim.facts) as RenderHeaders;
        return {
          ...UNNAMED,
          before: { renderId: claim.renderId, headers, ...(file !== undefined && { file }) },
          keep: async (again) => await this.#keep(claim.renderId, again),
        };
      }
    }
  }

  /** A caller who has the last byte may ask again before its charge is on disk: that is a moment away, so it is waited for. */
  async #claim(place: Place, print: string, renderId: string): Promise<Claim> {
    const claim = await this.#idempotency.claim(place.accountId, place.key, print, renderId);
    const delivery = this.#delivering.get(nameOf(place));
    if (claim.kind !== 'in flight' || delivery === undefined) return claim;
    await Promise.race([delivery, setTimeout(PATIENCE_MS)]);
    return await this.#idempotency.claim(place.accountId, place.key, print, renderId);
  }

  async #deliver(place: Place, work: () => Promise<void>): Promise<void> {
    const delivery = work();
    this.#delivering.set(
      nameOf(place),
      delivery.catch(() => undefined),
    );
    try {
      await delivery;
    } finally {
      this.#delivering.delete(nameOf(place));
    }
  }

  async #keep(renderId: string, file: string): Promise<void> {
    try {
      await this.#replayCache.keep(renderId, file);
    } catch (error) {
      this.#onReplayCacheError(error);
    }
  }
}

type Place = Pick<Remembered, 'accountId' | 'key'>;

function nameOf({ accountId, key }: Place): string {
  return `${accountId} ${key}`;
}

const UNNAMED: IdempotentRequest = {
  before: undefined,
  delivering: async (work) => await work(),
  remember: () => undefined,
  keep: async () => undefined,
  abandon: async () => undefined,
};

/** Fields in any order, and the bytes of the asset. */
function fingerprint({ fields, asset }: ReceivedForm): string {
  const pairs = fields.map(({ name, value }) => JSON.stringify([name, value])).toSorted();
  return createHash('sha256')
    .update(JSON.stringify([pairs, asset?.sha256 ?? null]))
    .digest('hex');
}
