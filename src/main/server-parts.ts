// The parts that the routes and the background work of a server are built from.

import path from 'node:path';
import type { PlanBook } from '../service/account/plans.ts';
import { SavedFiles } from '../service/brand/saved-files.ts';
import { SavedLogos } from '../service/brand/saved-logos.ts';
import { SavedFonts } from '../service/brand/saved-fonts.ts';
import { SavedStyles } from '../service/brand/saved-styles.ts';
import type { Settings } from '../service/config/settings.ts';
import type { Renderer } from '../service/dispatch/renderer.ts';
import { AssetFetcher } from '../service/fetch/asset-fetcher.ts';
import { FetchPolicy } from '../service/fetch/fetch-policy.ts';
import { FileSender } from '../service/http/overlay/file-sender.ts';
import { RunningRequests } from '../service/http/transport/running-requests.ts';
import { LocalLimits } from '../service/limits/local-limits.ts';
import { FileCache } from '../engine/media/file-cache.ts';
import { WorkArea } from '../engine/media/work-area.ts';
import { RendererWithFiles } from '../service/renders/renderer-with-files.ts';
import { UploadBudget } from '../service/renders/upload-budget.ts';
import type { ObjectStorage } from '../service/storage/object-storage.ts';
import type { Limits } from '../service/store/limits.ts';
import type { Store } from '../service/store/store.ts';
import type { HealthReport } from '../service/telemetry/health.ts';
import type { Logger } from '../service/telemetry/logger.ts';
import type { Metrics } from '../service/telemetry/metrics.ts';
import type { OtlpExporter } from '../service/telemetry/otlp-exporter.ts';
import { deadlinesOf } from './deadlines.ts';
import { loadPlans } from './load-plans.ts';
import { hasSharedStorage, openStorage, storedBytesLimit } from './open-storage.ts';
import { onceAvailable, openStore } from './open-store.ts';
import { assertPaymentSettings } from './payments.ts';
import type { ResourceStack } from './resource-stack.ts';
import { startRenderer } from './start-renderer.ts';
import { startTelemetry } from './start-telemetry.ts';
import { assertPlans, healthOf, warnAboutPublicSignUp, warnAboutRemovedSettings } from './startup-checks.ts';
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
  readonly storage: ObjectStorage;
  /** How many bytes all accounts together may store. */
  readonly serviceBytes: number;
  readonly styles: SavedStyles;
  readonly logos: SavedLogos;
  readonly brandFiles: SavedFiles;
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
  warnAboutRemovedSettings(logger);
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
  const storage = await openStorage(settings, logger);
  resources.add({ close: async () => storage.close() });
  const serviceBytes = await storedBytesLimit(settings);
  const lacksSharedStorage = !hasSharedStorage(settings);
  const workArea = resources.add(await WorkArea.open(path.join(dataDirectory, 'work')));
  const { renderer: workers, sandbox } = resources.add(await startRenderer(settings, logger, metrics));
  const brandFiles = new SavedFiles({ files: store.brandFiles, storage, serviceBytes, lacksSharedStorage });
  const fonts = new SavedFonts(brandFiles, storage);
  const renderer = new RendererWithFiles(workers, fonts, resources.add(new FileCache(workArea)));
  const { failedDecodes } = access;
  const deadlineMs = deadlinesOf(settings);
  const logos = new SavedLogos({ files: brandFiles, renderer, workArea, failedDecodes, deadlineMs });
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
    storage,
    serviceBytes,
    styles: new SavedStyles(store.styles, store.brandFiles),
    logos,
    brandFiles,
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
