// Wires the steps between a request and its account: authentication, limits, credits and idempotency.

import path from 'node:path';
import type { PlanBook } from '../account/plans.ts';
import type { Settings } from '../config/settings.ts';
import { Admission } from '../http/access/admission.ts';
import { Authenticator } from '../http/access/authenticate.ts';
import { CreditReservations } from '../renders/reserve.ts';
import { IdempotencyKeys } from '../renders/idempotency.ts';
import { FailedDecodes } from '../limits/failed-decodes.ts';
import { LocalLimits } from '../limits/local-limits.ts';
import { Marketplace } from '../http/access/marketplace.ts';
import type { OverlayDependencies } from '../http/overlay/overlay-route.ts';
import { Refusals } from '../renders/refusals.ts';
import { ReplayCache } from '../renders/replay-cache.ts';
import { RequestLogWriter } from '../store/requests/request-log-writer.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Housekeeping } from './housekeeping.ts';

type BillingParts = Pick<
  OverlayDependencies,
  'authenticator' | 'marketplace' | 'admission' | 'refusals' | 'idempotency' | 'reservations' | 'failedDecodes'
>;

export interface BillingServices {
  readonly parts: BillingParts & { readonly requests: RequestLogWriter };
  /** Call after the last request and before the store is closed. */
  close(): Promise<void>;
}

export async function wireBilling(
  settings: Settings,
  store: Store,
  plans: PlanBook,
  logger: Logger,
): Promise<BillingServices> {
  const marketplace = new Marketplace(settings.marketplaceName, settings.marketplaceSecrets);
  const refusals = new Refusals(store.usage);
  const requestLog = new RequestLogWriter(store.requests);
  const replayCache = await ReplayCache.open(
    path.join(settings.dataDirectory, 'replays'),
    settings.replayMegabytes * 1_000_000,
  );
  const reservations = new CreditReservations(store.ledger, logger);
  const { keepRendersDays, databaseUrl } = settings;
  const embedded = databaseUrl === '';
  const housekeeping = new Housekeeping({
    store,
    refusals,
    requestLog,
    replayCache,
    logger,
    keepRendersDays,
    embedded,
  });
  await housekeeping.start();
  const limits = store.limits ?? new LocalLimits();
  const failedDecodes = new FailedDecodes(limits);
  const admission = new Admission(limits, failedDecodes);
  return {
    parts: {
      marketplace,
      authenticator: new Authenticator({
        store,
        plans,
        marketplace,
        onMarkFailed: (error, keyId) => logger.warn({ keyId, err: error }, 'last use of an API key not written'),
      }),
      admission,
      refusals,
      requests: requestLog,
      idempotency: new IdempotencyKeys(store.idempotency, replayCache, logger),
      reservations,
      failedDecodes,
    },
    close: async () => {
      await housekeeping.stop();
    },
  };
}
