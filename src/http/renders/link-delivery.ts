// `deliver=url` on a request that waits: the finished file goes to storage, and the response has a link to it.

import type { Renders } from '../../store/renders/renders.ts';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';
import type { ObjectStorage } from '../../storage/object-storage.ts';
import {
  finishedRecord,
  isOutcomeUnknown,
  type NewRender,
  type RenderRecord,
  type RenderSuccess,
} from '../../store/renders/render.ts';
import type { Caller } from '../../account/caller.ts';
import type { Marketplace } from '../access/marketplace.ts';
import { billingHeaders, type RequestDelivery } from '../overlay/deliver.ts';
import type { OverlayContext } from '../overlay/overlay-context.ts';
import type { LinkBase } from './link-base.ts';
import { putResult } from '../../renders/render-result.ts';
import { RENDERS_PATH, renderToJson } from '../../renders/render-view.ts';
import { assertStorageRoom, type StorageUse, storageError, storageLimitsOf } from '../../renders/storage-room.ts';
import { storeRequest } from '../../renders/stored-request.ts';

export interface LinkDeliveryOptions {
  readonly renders: Renders;
  readonly storage: ObjectStorage;
  readonly marketplace: Marketplace;
  readonly linkBase: LinkBase;
  readonly resultHours: number;
  /** The limit of all accounts together. */
  readonly serviceBytes: number;
}

export class LinkDelivery {
  readonly #options: LinkDeliveryOptions;

  constructor(options: LinkDeliveryOptions) {
    this.#options = options;
  }

  assertAvailable(request: FastifyRequest): void {
    this.#options.linkBase.assertAvailable(request);
  }

  /**
   * Responds with the render that an earlier request with the same key stored. Returns false when it has been deleted.
   */
  async replay(context: OverlayContext, renderId: string): Promise<boolean> {
    const render = await this.#options.renders.find({ accountId: context.caller.accountId }, renderId);
    if (render === undefined) return false;
    context.reply.header('idempotency-replayed', 'true');
    this.#respond(context, render);
    return true;
  }

  /** Throws when the account can't store another result. */
  async assertRoom(caller: Caller, of: StorageUse['of'] = 'request'): Promise<void> {
    const { renders, serviceBytes } = this.#options;
    // The size isn't known yet, but every result has at least one byte.
    await assertStorageRoom(renders, caller, 1, { serviceBytes, of });
  }

  /** Stores and charges the render in one transaction. */
  async deliver(context: OverlayContext, delivery: RequestDelivery): Promise<void> {
    const { storage, marketplace, resultHours } = this.#options;
    const { caller, request: raw, reply, lifetime } = context;
    await this.assertRoom(caller, 'result');
    const { finished, reservation } = delivery;
    const result = { renderId: raw.id, finished, credits: reservation.credits };
    const success = await putResult(storage, result, resultHours, lifetime.signal);
    let render: RenderRecord;
    try {
      lifetime.signal.throwIfAborted();
      render = await this.#add(context, delivery, success);
    } catch (error) {
      // When the outcome is unknown, the render may need its object. The sweep deletes one that no render needs.
      if (!isOutcomeUnknown(error)) await storage.delete(success.output.name).catch(() => undefined);
      throw error;
    }
    reply.headers(billingHeaders(marketplace, raw, reservation));
    this.#respond(context, render);
  }

  async #add(
    { caller, request: { id } }: OverlayContext,
    { upload, finished, remembered: remember }: RequestDelivery,
    success: RenderSuccess,
  ): Promise<RenderRecord> {
    const { accountId, keyId, mode, plan, subscription } = caller;
    const limits = storageLimitsOf(caller, { serviceBytes: this.#options.serviceBytes, of: 'result' });
    const at = new Date();
    const render: NewRender = {
      id,
      accountId,
      keyId,
      mode,
      batchId: undefined,
      request: storeRequest(upload),
      asset: undefined,
      plan: plan.name,
      period: subscription.period,
      renews: subscription.renews,
      lane: finished.asset?.kind ?? 'image',
      maxRunning: plan.concurrentRenders,
    };
    const addition = await this.#options.renders.addFinished(render, success, { limits, remember, at });
    if (addition.kind === 'over limit') throw storageError(addition, limits);
    if (addition.kind === 'hold gone') {
      throw new AppError('storage_unavailable', 'The result could not be stored. Try again.', { retryAfterSeconds: 2 });
    }
    return finishedRecord(render, success, at);
  }

  #respond({ request, reply }: OverlayContext, render: RenderRecord): void {
    reply.headers({
      'x-render-id': render.id,
      location: `${RENDERS_PATH}/${render.id}`,
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    });
    reply.send(JSON.stringify(renderToJson(render, this.#options.linkBase.urlFor(request))));
  }
}
