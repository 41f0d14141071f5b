// Wires up the site: pages, their assets, and the renders that visitors get without a key.

import { deadlinesOf } from './deadlines.ts';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { PlanBook } from '../account/plans.ts';
import type { Billing } from '../billing/billing.ts';
import type { Settings } from '../config/settings.ts';
import { Assets } from '../dashboard/assets.ts';
import { loadPlainPages } from '../dashboard/docs/plain-pages.ts';
import { shareImageRoutes } from '../dashboard/docs/share-images.ts';
import { errorPages } from '../dashboard/error-page.ts';
import { loadGuides } from '../dashboard/guides.ts';
import type { SessionGuard } from '../dashboard/identity/session-guard.ts';
import type { Site } from '../dashboard/page.ts';
import { privatePages } from '../dashboard/private-pages.ts';
import { publicPages, type PublicPagesDependencies, publicTitles } from '../dashboard/public-pages.ts';
import type { Renderer } from '../dispatch/renderer.ts';
import type { ErrorPage } from '../api/problem.ts';
import type { RenderActions } from '../renders/render-actions.ts';
import type { RouteGroup } from '../http/route-group.ts';
import type { WebhookChanges } from '../webhooks/webhook-changes.ts';
import type { FileSender } from '../http/overlay/file-sender.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { WorkArea } from '../media/work-area.ts';
import type { Store } from '../store/store.ts';
import type { HealthReport } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { wireIdentity } from './wire-identity.ts';
import { wirePlayground } from './wire-playground.ts';
import { VERSION } from './version.ts';

export interface PagesDependencies {
  readonly settings: Settings;
  readonly plans: PlanBook;
  readonly store: Store;
  readonly billing: Billing;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly health: () => HealthReport;
  readonly renderer: Renderer;
  readonly renderActions: RenderActions;
  readonly workArea: WorkArea;
  readonly sender: FileSender;
  readonly webhooks: WebhookChanges;
  readonly shutdown: AbortSignal;
}

type PlaygroundParts = ReturnType<typeof wirePlayground>['parts'];

export async function createPages(dependencies: PagesDependencies): Promise<{
  readonly playground: PlaygroundParts;
  readonly groups: readonly RouteGroup[];
  readonly errorPage: ErrorPage;
  /** Undefined when the operator hasn't configured an SMTP server. */
  readonly mailer: Mailer | undefined;
  /** Call it before the store is closed. */
  readonly close: () => Promise<void>;
}> {
  const { settings, plans, store, logger, metrics, renderer, workArea, shutdown } = dependencies;
  const { close, ...identityServices } = wireIdentity(settings, store, plans, logger, metrics.dependencies);
  const signUpOpen = settings.signUp !== 'closed';
  const site: Site = {
    assets: await loadAssets(),
    navigation: [
      { path: '/playground', label: 'Playground' },
      { path: '/docs', label: 'Docs' },
      { path: '/#plans', label: 'Plans' },
    ],
    signUpPath: signUpOpen ? '/signup' : undefined,
  };
  const publicDependencies = await publicDependenciesOf(dependencies, site, identityServices.sessionGuard);
  const { sessionGuard } = identityServices;
  const playground = wirePlayground({ ...dependencies, sessionGuard });
  return {
    playground: playground.parts,
    errorPage: errorPages(site),
    mailer: identityServices.mailer,
    close,
    groups: [
      site.assets.routes,
      publicPages(publicDependencies),
      shareImageRoutes({
        renderer,
        workArea,
        shutdown,
        photo: site.assets.bytes('share.jpg'),
        limits: plans.lowest.limits,
        deadlineMs: deadlinesOf(settings),
        titles: publicTitles(publicDependencies),
      }),
      ...playground.groups,
      privatePages({ ...dependencies, ...identityServices, site, signUpOpen, publicUrl: settings.publicUrl }),
    ],
  };
}

async function publicDependenciesOf(
  { settings, plans, health }: PagesDependencies,
  site: Site,
  sessionGuard: SessionGuard,
): Promise<PublicPagesDependencies> {
  const { publicUrl, securityContact, pagesDirectory } = settings;
  return {
    site,
    plans: plans.plans.map((plan) => ({ ...plan, currency: plans.currency })),
    guides: await loadGuides(pathTo('../../docs')),
    reference: await readFile(pathTo('../../docs/api.md'), 'utf8'),
    plainPages: await loadPlainPages(pathTo('../../docs'), pathTo('../../CHANGELOG.md'), pagesDirectory),
    version: VERSION,
    hasFreeClips: settings.playgroundClipsPerDay > 0,
    health,
    publicUrl,
    securityContact,
    sessionGuard,
  };
}

function pathTo(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

async function loadAssets(): Promise<Assets> {
  return await Assets.load({
    folders: [pathTo('../browser'), pathTo('../../assets'), pathTo('../../examples')],
    files: {
      'inter.woff2': createRequire(import.meta.url).resolve('inter-ui/variable-latin/InterVariable-subset.woff2'),
    },
  });
}
