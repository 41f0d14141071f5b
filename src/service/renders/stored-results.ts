// Finished files that go to storage instead of into a response: the results of asynchronous renders, and those of requests
// with `deliver=url` or `put_url`.

import { randomBytes } from 'node:crypto';
import type { Caller } from '../account/caller.ts';
import { AppError } from '../../shared/errors.ts';
import { must } from '../../shared/must.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import { finishedRecord, isOutcomeUnknown, type RenderRecord, type RenderSuccess } from '../store/renders/render.ts';
import type { Remembered } from '../store/ledger/holds.ts';
import type { Renders } from '../store/renders/renders.ts';
import { newRender } from './new-render.ts';
import type { ParsedRequest } from './parse.ts';
import type { FinishedRender } from './perform-render.ts';
import { type PutTargets, targetOf } from './put-targets.ts';
import { type PutOfResult, resultOf } from './render-result.ts';
import { storageError, storageLimitsOf, type StorageUse } from '../limits/storage-limits.ts';

export interface StoredResultsOptions {
  readonly renders: Pick<Renders, 'find' | 'storageExceeded' | 'addFinished' | 'deliveries'>;
  readonly targets: PutTargets;
  readonly storage: ObjectStorage;
  readonly resultHours: number;
  /** The limit of all accounts together. */
  readonly serviceBytes: number;
}

export interface ResultToStore {
  readonly renderId: string;
  readonly caller: Caller;
  readonly finished: FinishedRender;
  readonly credits: number;
  /** Set if the file is sent to a URL of the caller. */
  readonly put: PutOfResult | undefined;
}

/** A result whose request waited for it, so that there is no record of its render yet. */
export interface ResultOfRequest extends Omit<ResultToStore, 'put'> {
  readonly parsed: ParsedRequest;
  /** The result for the next request with the same idempotency key. */
  readonly remembered: Remembered | undefined;
}

/** The number of random bytes of a link's secret, which can't be guessed. */
const TOKEN_BYTES = 24;

export class StoredResults {
  readonly #options: StoredResultsOptions;

  constructor(options: StoredResultsOptions) {
    this.#options = options;
  }

  /** Undefined when it has been deleted. */
  async find({ accountId }: Caller, renderId: string): Promise<RenderRecord | undefined> {
    return await this.#options.renders.find({ accountId }, renderId);
  }

  /** Writes the result to a new local file. Throws `result_expired` when it isn't stored any more. */
  async restore({ output }: RenderRecord, file: string, signal: AbortSignal): Promise<void> {
    const { name, expiresAt } = must(output, 'the output of a render that succeeded');
    const isStored = expiresAt.getTime() > Date.now() && (await this.#options.storage.copyTo(name, file, signal));
    if (isStored) return;
    const detail = 'The result of this request has expired. Send it with another idempotency key to render it again.';
    throw new AppError('result_expired', detail);
  }

  /** Throws when there is no room for so many bytes. Where the size isn't known yet, one byte finds a full storage. */
  async assertRoom(caller: Caller, bytes: number, of: StorageUse['of']): Promise<void> {
    const { renders, serviceBytes } = this.#options;
    const limits = storageLimitsOf(caller, { serviceBytes, of });
    const exceeded = await renders.storageExceeded({ accountId: caller.accountId, bytes }, limits);
    if (exceeded) throw storageError(exceeded, limits);
  }

  /** The name is new for every attempt, so that two attempts never write the same object. */
  async put({ renderId, caller, finished, credits, put }: ResultToStore, signal: AbortSignal): Promise<RenderSuccess> {
    const { storage, resultHours } = this.#options;
    const { file, bytes, asset, durationMs } = finished;
    await this.assertRoom(caller, bytes, 'result');
    const name = `outputs/${renderId}.${randomBytes(8).toString('hex')}`;
    await storage.put(name, file, signal);
    return {
      output: {
        name,
        bytes,
        token: randomBytes(TOKEN_BYTES).toString('base64url'),
        expiresAt: new Date(Date.now() + resultHours * 3_600_000),
      },
      result: JSON.stringify(resultOf(finished, put)),
      sourceType: asset?.kind ?? 'image',
      credits,
      durationMs,
    };
  }

  /**
   * Also adds the record of the render and charges for it, in one transaction. With `put_url`, the file is due to be sent
   * instead, and its delivery decides about the charge.
   */
  async add(result: ResultOfRequest, signal: AbortSignal): Promise<RenderRecord> {
    const { put } = result.parsed.delivery;
    const success = await this.put({ ...result, put: put && { isAwaited: true } }, signal);
    try {
      if (put) await this.#options.targets.store(result.renderId, put, signal);
      signal.throwIfAborted();
      return await this.#addFinished(result, success);
    } catch (error) {
      // When the outcome is unknown, the render may need its object. The sweep deletes one that no render needs.
      if (!isOutcomeUnknown(error)) {
        const objects = [success.output.name, ...(put ? [targetOf(result.renderId)] : [])];
        for (const name of objects) await this.#options.storage.delete(name).catch(() => undefined);
      }
      throw error;
    }
  }

  async #addFinished(
    { renderId, caller, parsed, remembered: remember }: ResultOfRequest,
    success: RenderSuccess,
  ): Promise<RenderRecord> {
    const { renders, serviceBytes } = this.#options;
    const limits = storageLimitsOf(caller, { serviceBytes, of: 'result' });
    const at = new Date();
    const render = newRender(caller, renderId, { parsed });
    const options = { limits, remember, at };
    const addition =
      render.target === undefined
        ? await renders.addFinished(render, success, options)
        : await renders.deliveries.add(render, success, options);
    if (addition.kind === 'over limit') throw storageError(addition, limits);
    if (addition.kind === 'hold gone') {
      throw new AppError('storage_unavailable', 'The result could not be stored. Try again.', { retryAfterSeconds: 2 });
    }
    return finishedRecord(render, success, at);
  }
}
