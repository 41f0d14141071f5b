// The record of a render before it has run.

import type { Caller } from '../account/caller.ts';
import type { NewRender, StoredAsset } from '../store/renders/render.ts';
import type { ParsedRequest, UnfetchedRequest } from './parse.ts';
import { targetOf } from './put-targets.ts';
import { storeRequest } from './stored-request.ts';

/**
 * The maximum number of renders with files to fetch, so that the hosts of one account can't take all connections of a
 * server.
 */
const MAX_FETCHES_PER_ACCOUNT = 16;

export interface RenderParts {
  readonly parsed: ParsedRequest | UnfetchedRequest;
  readonly asset?: StoredAsset | undefined;
  readonly batchId?: string;
}

export function newRender(caller: Caller, id: string, { parsed, asset, batchId }: RenderParts): NewRender {
  const { accountId, keyId, mode, plan, subscription } = caller;
  const isFetched = 'assetUrl' in parsed;
  const { put } = parsed.delivery;
  return {
    id,
    accountId,
    keyId,
    mode,
    batchId,
    request: storeRequest(parsed.request),
    asset,
    lane: isFetched ? 'fetch' : (parsed.asset?.kind ?? 'image'),
    plan: plan.name,
    period: subscription.period,
    renews: subscription.renews,
    ...(put && { target: targetOf(id), receiver: new URL(put.url).origin }),
    maxRunning: isFetched ? Math.min(plan.concurrentRenders, MAX_FETCHES_PER_ACCOUNT) : plan.concurrentRenders,
  };
}
