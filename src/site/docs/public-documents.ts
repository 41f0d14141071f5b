// Documents for machines: OpenAPI, llms.txt and its full version, guides as Markdown, the search index, robots.txt, the sitemap
// and security.txt.

import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../shared/errors.ts';
import { guidePath } from '../guide-files.ts';
import { type Guide, guideMarkdown } from '../guides.ts';
import { llmsText } from '../llms.ts';
import type { SearchSection } from '../browser/search-ranking.ts';
import { lastTextCache, servedOpenApi } from './served-openapi.ts';

export interface PublicDocumentsDependencies {
  readonly guides: readonly Guide[];
  /** For Postman and tools like it. */
  readonly collection: string;
  readonly version: string;
  /** The service's public URL. If empty, documents use the host that the client requested. */
  readonly publicUrl: string;
  /** An email address or URL for reports of vulnerabilities. If empty, `security.txt` isn't served. */
  readonly securityContact: string;
  /** Called when the first visitor searches, because it takes a while. */
  readonly index: () => readonly SearchSection[];
  /** The paths of all pages that search engines may show. */
  readonly paths: readonly string[];
  readonly baseUrlOf: (request: FastifyRequest) => string;
}

// Any origin may read these public documents, because browser-based API tools fetch them.
const SHARED = { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' };
const SECURITY_TXT_DAYS = 180;
/** The value of the variable `baseUrl` in the collection. */
const COLLECTION_URL = 'http://127.0.0.1:8080';
const compress = promisify(brotliCompress);

export function addPublicDocuments(app: FastifyInstance, dependencies: PublicDocumentsDependencies): void {
  const { guides, collection, version, publicUrl, baseUrlOf } = dependencies;
  const send = (reply: FastifyReply, type: string, text: string): FastifyReply =>
    reply.headers({ ...SHARED, 'content-type': `${type}; charset=utf-8` }).send(text);
  const openApiFor = lastTextCache((baseUrl) => servedOpenApi(version, publicUrl, baseUrl));
  app.get('/openapi.json', (request, reply) => send(reply, 'application/json', openApiFor(baseUrlOf(request))));
  app.get('/llms.txt', (request, reply) => send(reply, 'text/plain', llmsText(guides, baseUrlOf(request))));
  app.get('/llms-full.txt', (request, reply) => {
    const sources = guides.map((guide) => guideMarkdown(guide, baseUrlOf(request)));
    return send(reply, 'text/plain', [llmsText(guides, baseUrlOf(request)), ...sources].join('\n\n---\n\n'));
  });
  for (const guide of guides) {
    app.get(`${guidePath(guide.slug)}.md`, (request, reply) =>
      send(reply, 'text/markdown', guideMarkdown(guide, baseUrlOf(request))),
    );
  }
  app.get('/docs/storybar.postman_collection.json', (request, reply) => {
    reply.header('content-disposition', 'attachment; filename="storybar.postman_collection.json"');
    return send(reply, 'application/json', collection.replaceAll(COLLECTION_URL, baseUrlOf(request)));
  });
  addCrawlerFiles(app, dependencies, send);
  addSearchIndex(app, dependencies.index);
}

function addCrawlerFiles(
  app: FastifyInstance,
  { paths, securityContact, baseUrlOf }: PublicDocumentsDependencies,
  send: (reply: FastifyReply, type: string, text: string) => FastifyReply,
): void {
  app.get('/robots.txt', (request, reply) => {
    const rules = ['/dashboard', '/operator', '/dev/', '/v1/'].map((path) => `Disallow: ${path}`);
    return send(
      reply,
      'text/plain',
      ['User-agent: *', ...rules, '', `Sitemap: ${baseUrlOf(request)}/sitemap.xml`, ''].join('\n'),
    );
  });
  app.get('/sitemap.xml', (request, reply) => {
    const urls = paths.map((path) => `<url><loc>${baseUrlOf(request)}${path}</loc></url>`);
    const namespace = 'http://www.sitemaps.org/schemas/sitemap/0.9';
    return send(
      reply,
      'application/xml',
      `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="${namespace}">\n${urls.join('\n')}\n</urlset>\n`,
    );
  });
  app.get('/.well-known/security.txt', (request, reply) => {
    if (securityContact === '')
      throw new AppError('not_found', 'The operator has set no contact for security reports.');
    const contact = securityContact.includes('://') ? securityContact : `mailto:${securityContact}`;
    const expires = new Date(Date.now() + SECURITY_TXT_DAYS * 86_400_000).toISOString();
    const canonical = `${baseUrlOf(request)}/.well-known/security.txt`;
    return send(reply, 'text/plain', `Contact: ${contact}\nExpires: ${expires}\nCanonical: ${canonical}\n`);
  });
}

function addSearchIndex(app: FastifyInstance, index: () => readonly SearchSection[]): void {
  let text: string | undefined;
  let compressed: Promise<Buffer> | undefined;
  app.get('/docs/search.json', async (request, reply) => {
    reply.headers({ ...SHARED, 'content-type': 'application/json; charset=utf-8', vary: 'accept-encoding' });
    text ??= JSON.stringify(index());
    if (!/\bbr\b/u.test(String(request.headers['accept-encoding']))) return reply.send(text);
    compressed ??= compress(text);
    return reply.header('content-encoding', 'br').send(await compressed);
  });
}
