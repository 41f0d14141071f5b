// The public pages: front page, playground and documentation.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { requestBaseUrl } from '../http/transport/request-base-url.ts';
import { openApiDocument } from '../http/reference/openapi.ts';
import type { RouteGroup } from '../http/route-group.ts';
import { componentsPage } from './components-page.ts';
import { frontPage } from './front-page.ts';
import { type Guide, guideContents, guidePage } from './guides.ts';
import type { SessionGuard } from './identity/session-guard.ts';
import { llmsText } from './llms.ts';
import { type Page, sendPublicPage, type Site } from './page.ts';
import type { PlanOffer } from './plan-cards.ts';
import { playgroundPage } from './playground-page.ts';
import { referencePage } from './reference-page.ts';

export interface PublicPagesDependencies {
  readonly site: Site;
  readonly plans: readonly PlanOffer[];
  readonly guides: readonly Guide[];
  readonly version: string;
  /** The service's public URL. If empty, pages use the host that the client requested. */
  readonly publicUrl: string;
  readonly sessionGuard: SessionGuard;
}

type PageFor = (baseUrl: string) => Page;

/** Base URL of the examples if the request has no usable host. */
const LOCAL_URL = 'http://127.0.0.1:8080';

export function publicPages(dependencies: PublicPagesDependencies): RouteGroup {
  const { site, plans, guides, publicUrl, sessionGuard } = dependencies;
  const pages: Readonly<Record<string, PageFor>> = {
    '/': (baseUrl) => frontPage(site, plans, baseUrl),
    '/playground': (baseUrl) => playgroundPage(site, plans, baseUrl),
    '/docs': (baseUrl) => referencePage(guideContents(guides, '/docs'), baseUrl),
    '/dev/components': () => componentsPage(),
  };
  const send = async (request: FastifyRequest, reply: FastifyReply, page: Page): Promise<FastifyReply> => {
    const member = await sessionGuard.member(request, reply);
    return sendPublicPage(reply, site, { ...page, viewer: member?.user });
  };
  const baseUrlOf = (request: FastifyRequest): string => publicUrl || (requestBaseUrl(request) ?? LOCAL_URL);
  return {
    register: (app) => {
      for (const [path, page] of Object.entries(pages)) {
        app.get(path, async (request, reply) => await send(request, reply, page(baseUrlOf(request))));
      }
      app.get<{ Params: { guide: string } }>('/docs/:guide', async (request, reply) => {
        const guide = guides.find(({ slug }) => slug === request.params.guide);
        if (guide === undefined) throw new AppError('not_found', "That guide doesn't exist.");
        return await send(request, reply, guidePage(guides, guide, baseUrlOf(request)));
      });
      addDocuments(app, dependencies, baseUrlOf);
    },
  };
}

/** Machine-readable documents. */
function addDocuments(
  app: FastifyInstance,
  { guides, version }: PublicPagesDependencies,
  baseUrlOf: (request: FastifyRequest) => string,
): void {
  const document = JSON.stringify(openApiDocument(version), null, 2);
  // Any origin may read these public documents, because browser-based API tools fetch them.
  const shared = { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' };
  app.get('/openapi.json', (_request, reply) => {
    return reply.headers({ ...shared, 'content-type': 'application/json; charset=utf-8' }).send(document);
  });
  app.get('/llms.txt', (request, reply) => {
    return reply
      .headers({ ...shared, 'content-type': 'text/plain; charset=utf-8' })
      .send(llmsText(guides, baseUrlOf(request)));
  });
}
