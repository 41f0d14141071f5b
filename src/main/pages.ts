// Wires up the site: pages, their assets, and the renders that visitors get without a key.

import { readFile } from 'node:fs/promises';
import { deadlinesOf } from './deadlines.ts';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Billing } from '../service/billing/billing.ts';
import type { Settings } from '../service/config/settings.ts';
import { Assets } from '../site/assets.ts';
import { loadPlainPages } from '../site/docs/plain-pages.ts';
import { shareImageRoutes } from '../site/docs/share-images.ts';
import { errorPages } from '../site/error-page.ts';
import { loadGuides } from '../site/guides.ts';
import type { SessionGuard } from '../site/identity/session-guard.ts';
import type { Site } from '../site/page.ts';
import { privatePages } from '../site/private-pages.ts';
import { publicPages, type PublicPagesDependencies, publicTitles } from '../site/public-pages.ts';
import type { ErrorPage } from '../service/api/problem.ts';
import type { RenderActions } from '../service/renders/render-actions.ts';
import type { RouteGroup } from '../service/http/route-group.ts';
import type { WebhookChanges } from '../service/webhooks/webhook-changes.ts';
import type { Mailer } from '../service/mail/mailer.ts';
import type { ServerParts } from './server-parts.ts';
import { type IdentityServices, wireIdentity } from './wire-identity.ts';
import { type PlaygroundServices, wirePlayground } from './wire-playground.ts';
import { VERSION } from './version.ts';

/** The parts of the server that the pages need. */
export interface PagesServices {
  readonly billing: Billing;
  readonly renderActions: RenderActions;
  readonly webhookChanges: WebhookChanges;
}

export async function createPages(
  parts: ServerParts,
  services: PagesServices,
): Promise<{
  readonly playground: PlaygroundServices;
  readonly groups: readonly RouteGroup[];
  readonly errorPage: ErrorPage;
  /** Undefined when the operator hasn't configured an SMTP server. */
  readonly mailer: Mailer | undefined;
  /** Call it before the store is closed. */
  readonly close: () => Promise<void>;
}> {
  const { settings, plans, renderer, workArea, shutdown } = parts;
  const identity = wireIdentity(parts);
  const site = await createSite(settings);
  const forPublicPages = await publicDependenciesOf(parts, site, identity.sessionGuard, services.billing);
  const playground = wirePlayground(parts, identity.sessionGuard);
  return {
    playground,
    errorPage: errorPages(site),
    mailer: identity.mailer,
    close: identity.close,
    groups: [
      site.assets.routes,
      publicPages(forPublicPages),
      shareImageRoutes({
        renderer,
        workArea,
        shutdown,
        photo: site.assets.bytes('share.jpg'),
        limits: plans.lowest.limits,
        deadlineMs: deadlinesOf(settings),
        titles: publicTitles(forPublicPages),
      }),
      ...playground.groups,
      privatePagesOf(parts, site, identity, services),
    ],
  };
}

async function createSite({ signUp, contact }: Settings): Promise<Site> {
  return {
    assets: await loadAssets(),
    navigation: [
      { path: '/playground', label: 'Playground' },
      { path: '/docs', label: 'Docs' },
      { path: '/pricing', label: 'Pricing' },
    ],
    signUpPath: signUp === 'closed' ? undefined : '/signup',
    hasContact: contact !== '',
  };
}

function privatePagesOf(
  parts: ServerParts,
  site: Site,
  { sessionGuard, identity, twoFactor, passkeySignIn, providerSignIn }: IdentityServices,
  { billing, renderActions, webhookChanges }: PagesServices,
): RouteGroup {
  const { settings, store, plans, health, styles, logos, brandFiles, renderer, workArea, uploads, shutdown } = parts;
  return privatePages({
    site,
    styles,
    logos,
    files: brandFiles,
    failedDecodes: parts.access.failedDecodes,
    renderer,
    workArea,
    uploads,
    rates: parts.limits,
    shutdown,
    deadlineMs: deadlinesOf(settings),
    store,
    plans,
    billing,
    identity,
    sessionGuard,
    renderActions,
    twoFactor,
    passkeySignIn,
    providerSignIn,
    health,
    webhooks: webhookChanges,
    signUpOpen: settings.signUp !== 'closed',
    publicUrl: settings.publicUrl,
  });
}

async function publicDependenciesOf(
  { settings, store, plans, health }: ServerParts,
  site: Site,
  sessionGuard: SessionGuard,
  billing: Billing,
): Promise<PublicPagesDependencies> {
  const { publicUrl, contact, securityContact, pagesDirectory } = settings;
  return {
    site,
    plans: plans.plans.map((plan) => ({ ...plan, currency: plans.currency })),
    guides: await loadGuides(pathTo('../../docs')),
    collection: await readFile(pathTo('../../docs/integrations/storybar.postman_collection.json'), 'utf8'),
    plainPages: await loadPlainPages(pathTo('../../docs'), pathTo('../../CHANGELOG.md'), pagesDirectory),
    version: VERSION,
    guests: { hasFreeClips: settings.playgroundClipsPerDay > 0, limits: plans.lowest.limits },
    health,
    store,
    publicUrl,
    contact,
    securityContact,
    takesPayments: billing.takesPayments,
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
