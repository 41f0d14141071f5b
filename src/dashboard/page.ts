// The frame around every page: head, header, footer and the headers of the answer.

import { brotliCompressSync, constants } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { Assets } from './assets.ts';
import { type Content, type Html, html } from './html.ts';

interface NavigationLink {
  readonly path: string;
  readonly label: string;
}

/** What all pages of one running site share. */
export interface Site {
  readonly assets: Assets;
  readonly navigation: readonly NavigationLink[];
  /** Where people get an account; undefined where the operator hands out keys. */
  readonly signUpPath: string | undefined;
}

export interface Page {
  readonly title: string;
  readonly description: string;
  /** The page's own path, to mark it in the navigation. */
  readonly path: string;
  readonly body: Html;
  /** Browser modules and styles beyond those of every page, by asset name. */
  readonly modules?: readonly string[];
  readonly styles?: readonly string[];
}

/** Nothing inline, nothing from elsewhere. `blob:` is for what a visitor opens in the playground. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Well under a millisecond for a page, and nearly as small as the best. */
const QUICK_QUALITY = 4;

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  // A page names the version of its assets, so it must be asked for again; what it names is kept.
  'cache-control': 'no-cache',
};

/** For pages that hold no secret: next to one, the size of a compressed page could give it away. */
export function sendPublicPage(reply: FastifyReply, site: Site, page: Page): FastifyReply {
  reply.headers(PAGE_HEADERS).header('vary', 'accept-encoding');
  const text = renderPage(site, page);
  if (!/\bbr\b/u.test(String(reply.request.headers['accept-encoding']))) return reply.send(text);
  const params = { [constants.BROTLI_PARAM_QUALITY]: QUICK_QUALITY };
  return reply.header('content-encoding', 'br').send(brotliCompressSync(text, { params }));
}

export function renderPage(site: Site, page: Page): string {
  const { assets } = site;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title}</title>
<meta name="description" content="${page.description}">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f5f1e8" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#141310" media="(prefers-color-scheme: dark)">
<link rel="icon" type="image/svg+xml" href="${assets.url('icon.svg')}">
<link rel="preload" as="font" type="font/woff2" crossorigin href="${assets.url('inter.woff2')}">
${['site.css', ...(page.styles ?? [])].map((name) => html`<link rel="stylesheet" href="${assets.url(name)}">\n`)}
${['copy.js', ...(page.modules ?? [])].map((name) => html`<script type="module" src="${assets.url(name)}"></script>\n`)}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${header(site, page)}
<main id="main">
${page.body}
</main>
${footer()}
</body>
</html>
`.text;
}

function header({ navigation }: Site, page: Page): Html {
  const link = ({ path, label }: NavigationLink): Html => {
    const isHere = page.path === path || page.path.startsWith(`${path}/`);
    return html`<li><a href="${path}"${isHere && html` aria-current="page"`}>${label}</a></li>`;
  };
  return html`<header class="site-header">
<a class="wordmark" href="/">Storybar</a>
<nav aria-label="Site"><ul>${navigation.map(link)}</ul></nav>
</header>`;
}

function footer(): Html {
  const links: readonly (readonly [string, string])[] = [
    ['/playground', 'Playground'],
    ['/docs', 'API reference'],
    ['/docs/quickstart', 'Quickstart'],
    ['/openapi.json', 'OpenAPI'],
    ['/llms.txt', 'llms.txt'],
  ];
  const items: Content = links.map(([path, label]) => html`<li><a href="${path}">${label}</a></li>`);
  return html`<footer class="site-footer">
<nav aria-label="More"><ul>${items}</ul></nav>
<p>Nothing on these pages is loaded from elsewhere.</p>
</footer>`;
}
