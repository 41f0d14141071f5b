// The parts that the routes and the background work of a server are built from.

import path from 'node:path';
import type { PlanBook } from '../account/plans.ts';
import { SavedStyles } from '../brand/saved-styles.ts';
import type { Settings } from '../config/settings.ts';
import type { Renderer } from '../dispatch/renderer.ts';
import { AssetFetcher } from '../fetch/asset-fetcher.ts';
import { FetchPolicy } from '../fetch/fetch-policy.ts';
import { FileSender } from '../http/overlay/file-sender.ts';
import { RunningRequests } from '../http/transport/running-requests.ts';
import { LocalLimits } from '../limits/local-limits.ts';
import { WorkArea } from '../media/work-area.ts';
import { UploadBudget } from '../renders/upload-budget.ts';
import type { Limits } from '../store/limits.ts';
import type { Store } from '../store/store.ts';
import type { HealthReport } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { OtlpExporter } from '../telemetry/otlp-exporter.ts';
import { loadPlans } from './load-plans.ts';
import { onceAvailable, openStore } from './open-store.ts';
import { assertPaymentSettings } from './payments.ts';
import type { ResourceStack } from './resource-stack.ts';
import { startRenderer } from './start-renderer.ts';
import { startTelemetry } from './start-telemetry.ts';
import { assertPlans, healthOf, warnAboutPublicSignUp } from './startup-checks.ts';
import { VERSION } from './version.ts';
import { type AccessServices, wireAccess } from './wire-access.ts';

export interface ServerParts {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Undefined without a collector. */
  readonly traces: OtlpExporter | undefined;
  readonly plans: PlanBook;
  readonly store: Store;
  /** Shared by all servers that use the database, or of this server alone. */
  readonly limits: Limits;
  readonly access: AccessServices;
  readonly styles: SavedStyles;
  readonly workArea: WorkArea;
  readonly uploads: UploadBudget;
  readonly renderer: Renderer;
  readonly health: () => HealthReport;
  readonly fetcher: AssetFetcher;
  readonly sender: FileSender;
  readonly running: RunningRequests;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
}

export async function openParts(
  settings: Settings,
  shutdown: AbortSignal,
  resources: ResourceStack,
): Promise<ServerParts> {
  const { dataDirectory, uploadMegabytes, uploadSeconds, downloadSeconds } = settings;
  const { logger, metrics, traces } = resources.add(await startTelemetry(settings));
  const plans = loadPlans(settings);
  assertPaymentSettings(settings, plans);
  warnAboutPublicSignUp(settings, logger);
  const onBroken = (error: unknown): void => logger.warn({ err: error }, 'database connection failed, opening another');
  const onRetry = (error: unknown): void => logger.warn({ err: error }, 'database unavailable, retrying');
  const store = resources.add(
    await onceAvailable(async () => await openStore(settings, onBroken, metrics.dependencies), onRetry),
  );
  await assertPlans(store, plans);
  const limits = store.limits ?? new LocalLimits();
  const access = resources.add(
    await wireAccess({ settings, store, plans, limits, logger, metrics: metrics.dependencies }),
  );
  const workArea = resources.add(await WorkArea.open(path.join(dataDirectory, 'work')));
  const { renderer, sandbox } = resources.add(await startRenderer(settings, logger, metrics));
  const uploads = new UploadBudget(dataDirectory, { maxBytes: uploadMegabytes * 1_000_000, maxSeconds: uploadSeconds });
  metrics.watchRequests({ inside: () => access.admission.inside, reservedBytes: () => uploads.reservedBytes });
  return {
    settings,
    logger,
    metrics,
    traces,
    plans,
    store,
    limits,
    access,
    styles: new SavedStyles(store.styles),
    workArea,
    uploads,
    renderer,
    health: () => healthOf(renderer.status(), sandbox, metrics.latency),
    fetcher: createFetcher(settings),
    sender: new FileSender(shutdown, downloadSeconds),
    running: new RunningRequests(),
    shutdown,
  };
}

type FetchSettings = Pick<Settings, 'fetch' | 'fetchAllow' | 'putAllow' | 'publicUrl'>;

function createFetcher({ fetch, fetchAllow, putAllow, publicUrl }: FetchSettings): AssetFetcher {
  const contact = publicUrl === '' ? '' : ` (+${publicUrl})`;
  const policy = new FetchPolicy(fetch, fetchAllow, putAllow);
  return new AssetFetcher({ policy, userAgent: `storybar/${VERSION}${contact}` });
}
