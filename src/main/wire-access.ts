// Wires the steps between a request and its account: authentication, limits, credits and idempotency.

import path from 'node:path';
import type { PlanBook } from '../service/account/plans.ts';
import type { Settings, SpeechSettings } from '../service/config/settings.ts';
import { TranscriptionService } from '../service/fetch/transcription-service.ts';
import { Admission } from '../service/http/access/admission.ts';
import { Authenticator } from '../service/http/access/authenticate.ts';
import { Marketplace } from '../service/http/access/marketplace.ts';
import { createKeyRoutes, type KeyRoutes } from '../service/http/key-routes.ts';
import { FailedDecodes } from '../service/limits/failed-decodes.ts';
import { TranscriptionBreaker } from '../service/limits/transcription-breaker.ts';
import { UnpaidTranscripts } from '../service/limits/unpaid-transcripts.ts';
import { Refusals } from '../service/renders/refusals.ts';
import { ReplayCache } from '../service/renders/replay-cache.ts';
import { CreditReservations } from '../service/renders/reserve.ts';
import { SpeechCaptions } from '../service/renders/speech-captions.ts';
import type { Limits } from '../service/store/limits.ts';
import { RequestLogWriter } from '../service/store/requests/request-log-writer.ts';
import type { Store } from '../service/store/store.ts';
import type { DependencyMetrics } from '../service/telemetry/dependency-metrics.ts';
import type { Logger } from '../service/telemetry/logger.ts';
import { Housekeeping } from './housekeeping.ts';
import { VERSION } from './version.ts';

export interface AccessServices {
  readonly authenticator: Authenticator;
  readonly marketplace: Marketplace;
  readonly admission: Admission;
  readonly keyRoutes: KeyRoutes;
  readonly failedDecodes: FailedDecodes;
  readonly speechCaptions: SpeechCaptions;
  readonly refusals: Refusals;
  readonly requestLog: RequestLogWriter;
  /** For repeated requests. */
  readonly replayCache: ReplayCache;
  readonly reservations: CreditReservations;
  /** Call after the last request and before the store is closed. */
  close(): Promise<void>;
}

interface AccessOptions {
  readonly settings: Pick<
    Settings,
    'marketplaceName' | 'marketplaceSecrets' | 'dataDirectory' | 'databaseUrl' | 'replayMegabytes' | 'keepRendersDays'
  > &
    SpeechSettings;
  readonly store: Store;
  readonly plans: PlanBook;
  readonly limits: Limits;
  readonly logger: Logger;
  readonly metrics: DependencyMetrics;
}

export async function wireAccess({
  settings,
  store,
  plans,
  limits,
  logger,
  metrics,
}: AccessOptions): Promise<AccessServices> {
  const { marketplaceName, marketplaceSecrets, dataDirectory, replayMegabytes, keepRendersDays } = settings;
  const marketplace = new Marketplace(marketplaceName, marketplaceSecrets);
  const refusals = new Refusals(store.usage);
  const requestLog = new RequestLogWriter(store.requests);
  const replayCache = await ReplayCache.open(path.join(dataDirectory, 'replays'), replayMegabytes * 1_000_000);
  const embedded = settings.databaseUrl === '';
  const tasks = { store, refusals, requestLog, replayCache, logger, metrics, keepRendersDays, embedded };
  const housekeeping = new Housekeeping(tasks);
  await housekeeping.start();
  const failedDecodes = new FailedDecodes(limits);
  const admission = new Admission(limits, failedDecodes);
  const authenticator = new Authenticator({
    store,
    plans,
    marketplace,
    onMarkFailed: (error, keyId) => logger.warn({ keyId, err: error }, 'last use of an API key not written'),
  });
  return {
    authenticator,
    marketplace,
    admission,
    keyRoutes: createKeyRoutes({ authenticator, marketplace, admission, keys: store.keys }),
    failedDecodes,
    speechCaptions: wireSpeech(settings, limits, logger),
    refusals,
    requestLog,
    replayCache,
    reservations: new CreditReservations(store.ledger, logger),
    close: async () => await housekeeping.stop(),
  };
}

function wireSpeech(settings: SpeechSettings, limits: Limits, logger: Logger): SpeechCaptions {
  const unpaid = new UnpaidTranscripts(limits, (error, accountId) =>
    logger.warn({ accountId, err: error }, 'transcription not given back'),
  );
  return new SpeechCaptions(transcriptionService(settings, limits, logger), unpaid);
}

/** Undefined if the operator has configured none. */
function transcriptionService(
  settings: SpeechSettings,
  limits: Limits,
  logger: Logger,
): TranscriptionService | undefined {
  const { transcribeUrl, transcribeKey, transcribeModel, transcribeSeconds, transcribeConcurrency } = settings;
  if (transcribeUrl === '') return undefined;
  const url = new URL(transcribeUrl);
  const model = transcribeModel.trim();
  return new TranscriptionService({
    url,
    key: transcribeKey.trim(),
    model,
    seconds: transcribeSeconds,
    concurrency: transcribeConcurrency,
    userAgent: `storybar/${VERSION}`,
    breaker: new TranscriptionBreaker(limits),
    onFailed: ({ message, cause }) =>
      logger.warn({ transcriptionService: url.host, model, reason: message, err: cause }, 'transcription failed'),
  });
}
