// The public pages: front page, playground and documentation.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../shared/errors.ts';
import { requestBaseUrl } from '../service/http/transport/request-base-url.ts';
import type { RouteGroup } from '../service/http/route-group.ts';
import type { Store } from '../service/store/store.ts';
import type { HealthReport } from '../service/telemetry/health.ts';
import { shownEmail } from './account/frame.ts';
import { SAMPLE_PHOTO_PATH } from './account/start-page.ts';
import { componentsPage } from './components-page.ts';
import { contactPage, type PlainPage, plainPage } from './docs/plain-pages.ts';
import { addPublicDocuments } from './docs/public-documents.ts';
import type { SearchSection } from './browser/search-ranking.ts';
import { searchIndex, type SitePage } from './docs/search-index.ts';
import { shareImagePath } from './docs/share-images.ts';
import { tryItForm } from './docs/try-it.ts';
import { frontPage } from './front-page.ts';
import { guidePath } from './guide-files.ts';
import { addStatusPages } from './incidents/status-routes.ts';
import { STATUS_PATH, STATUS_SUMMARY } from './incidents/status-page.ts';
import { type Guide, guidePage } from './guides.ts';
import type { SessionGuard } from './identity/session-guard.ts';
import { type Page, sendPublicPage, type Site } from './page.ts';
import type { PlanOffer } from './plan-cards.ts';
import { pricingPage } from './pricing-page.ts';
import { playgroundPage } from './playground/playground-page.ts';
import type { GuestTerms } from './playground/price-attributes.ts';

export interface PublicPagesDependencies {
  readonly site: Site;
  readonly plans: readonly PlanOffer[];
  readonly guides: readonly Guide[];
  /** For Postman and tools like it. */
  readonly collection: string;
  readonly plainPages: readonly PlainPage[];
  /** What the playground renders without a key. */
  readonly guests: GuestTerms;
  readonly health: () => HealthReport;
  readonly store: Pick<Store, 'incidents' | 'operator'>;
  readonly version: string;
  /** The service's public URL. If empty, pages use the host that the client requested. */
  readonly publicUrl: string;
  /** Email address or URL for questions. If empty, the contact page isn't served. */
  readonly contact: string;
  /** True if customers can pay by themselves. */
  readonly takesPayments: boolean;
  /** Email address or URL for reports of vulnerabilities; empty: none. */
  readonly securityContact: string;
  readonly sessionGuard: SessionGuard;
}

type PageFor = (baseUrl: string) => Page;

/** The base URL of the examples if the request has no usable host. */
const LOCAL_URL = 'http://127.0.0.1:8080';

/** Returns every public page by its path, except the status page, which reads the database, and the page of components. */
function pagesOf(dependencies: PublicPagesDependencies): ReadonlyMap<string, PageFor> {
  const { site, plans, guides, plainPages, guests, contact, securityContact, takesPayments } = dependencies;
  return new Map<string, PageFor>([
    ['/', (baseUrl) => frontPage(site, plans, baseUrl)],
    ['/playground', (baseUrl) => playgroundPage(site, plans, baseUrl, guests)],
    ...guides.map((guide): [string, PageFor] => [
      guidePath(guide.slug),
      (baseUrl) => guidePage(guides, guide, baseUrl, () => tryItForm(site, plans, baseUrl, guests.limits)),
    ]),
    ...plainPages.map((page): [string, PageFor] => [page.path, () => plainPage(page)]),
    ['/pricing', () => pricingPage(site, plans, { takesPayments, hasContact: contact !== '' })],
    ...(contact === '' ? [] : [['/contact', () => contactPage(contact, securityContact)] as const]),
  ]);
}

/** Returns the titles for the images of links. */
export function publicTitles(dependencies: PublicPagesDependencies): ReadonlyMap<string, string> {
  const titles = [...pagesOf(dependencies)].map(
    ([path, page]) => [path, page(LOCAL_URL).title.replace(/ - Storybar$/u, '')] as const,
  );
  return new Map([...titles, [STATUS_PATH, 'Status'], ['/', 'Story-style captions. One API call.']]);
}

/** Other names that visitors type. */
const ALIASES = [
  ['/plans', '/pricing'],
  ['/support', '/contact'],
] as const;

/** The pages that the search of the documentation finds, too. */
function sitePagesOf(pages: ReadonlyMap<string, PageFor>): SitePage[] {
  const made = ['/pricing', '/contact'].map((path) => pages.get(path)?.(LOCAL_URL));
  return [STATUS_SUMMARY, ...made.filter((page) => page !== undefined)];
}

export function publicPages(dependencies: PublicPagesDependencies): RouteGroup {
  const { site, guides, plainPages, publicUrl, sessionGuard } = dependencies;
  const pages = pagesOf(dependencies);
  const baseUrlOf = (request: FastifyRequest): string => publicUrl || (requestBaseUrl(request) ?? LOCAL_URL);
  const send = async (request: FastifyRequest, reply: FastifyReply, page: Page): Promise<FastifyReply> => {
    const member = await sessionGuard.member(request, reply);
    const shareImage = `${baseUrlOf(request)}${shareImagePath(page.path)}`;
    return sendPublicPage(reply, site, { shareImage, ...page, viewer: member && { email: shownEmail(member) } });
  };
  return {
    register: (app) => {
      for (const [path, page] of pages) {
        app.get(path, async (request, reply) => await send(request, reply, page(baseUrlOf(request))));
      }
      for (const [alias, path] of ALIASES) {
        if (pages.has(path)) app.get(alias, (_request, reply) => reply.redirect(path, 308));
      }
      addStatusPages(app, { ...dependencies, send, baseUrlOf });
      app.get('/dev/components', async (request, reply) => await send(request, reply, componentsPage()));
      app.get('/docs/*', () => {
        throw new AppError('not_found', "That guide doesn't exist.");
      });
      const index = (): SearchSection[] => searchIndex(guides, plainPages, sitePagesOf(pages));
      addPublicDocuments(app, { ...dependencies, index, paths: [...pages.keys(), STATUS_PATH], baseUrlOf });
      app.get(SAMPLE_PHOTO_PATH, (_request, reply) => {
        const headers = { 'content-type': 'image/jpeg', 'cache-control': 'public, max-age=300' };
        return reply.headers(headers).send(site.assets.bytes('cairn.jpg'));
      });
    },
  };
}
