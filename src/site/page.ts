// The layout of every page (head, header and footer) and its response headers.

import { brotliCompressSync, constants } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { Assets } from './assets.ts';
import { type Content, type Html, html } from './html.ts';

interface NavigationLink {
  readonly path: string;
  readonly label: string;
}

/** Properties that all pages share. */
export interface Site {
  readonly assets: Assets;
  readonly navigation: readonly NavigationLink[];
  /** The path of the sign-up page. Undefined if sign-up is closed. */
  readonly signUpPath: string | undefined;
  /** True if the operator has published a way to ask questions, on /contact. */
  readonly hasContact: boolean;
}

/** The member who looks at a page. */
export interface Viewer {
  readonly email: string;
}

export interface Page {
  readonly title: string;
  readonly description: string;
  /** The path of this page, which is marked as current in the navigation. */
  readonly path: string;
  readonly body: Html;
  /** Undefined for visitors. */
  readonly viewer?: Viewer | undefined;
  /** The path of the same page as Markdown. */
  readonly markdownPath?: string;
  /** The absolute URL of the image for links to this page. */
  readonly shareImage?: string;
  /** A directive for search engines, such as `noindex`. */
  readonly robots?: string;
  /** The asset names of browser modules and styles that only this page needs. */
  readonly modules?: readonly string[];
  readonly styles?: readonly string[];
}

/** Allows no inline code and no third-party origins. `blob:` is for files that visitors open in the playground. */
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

/** Compresses a page in well under a millisecond, to nearly the size of the best quality. */
const BROTLI_QUALITY = 4;

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  // A page links to assets of a certain version, so browsers must revalidate it. The assets themselves are cached.
  'cache-control': 'no-cache',
};

/**
 * Use it only for pages without secrets: compressing a secret together with user input can leak it through the size
 * (BREACH).
 */
export function sendPublicPage(reply: FastifyReply, site: Site, page: Page): FastifyReply {
  reply.headers(PAGE_HEADERS).header('vary', 'accept-encoding, cookie');
  const text = renderPage(site, page);
  if (!/\bbr\b/u.test(String(reply.request.headers['accept-encoding']))) return reply.send(text);
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
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
<meta property="og:title" content="${page.title}">
<meta property="og:description" content="${page.description}">
<meta property="og:type" content="website">
${page.shareImage && html`<meta property="og:image" content="${page.shareImage}">\n<meta name="twitter:card" content="summary_large_image">`}
${page.markdownPath && html`<link rel="alternate" type="text/markdown" href="${page.markdownPath}">`}
${page.robots && html`<meta name="robots" content="${page.robots}">`}
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f5f1e8" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#141310" media="(prefers-color-scheme: dark)">
<link rel="icon" type="image/svg+xml" href="${assets.url('icon.svg')}">
<link rel="preload" as="font" type="font/woff2" crossorigin href="${assets.url('inter.woff2')}">
${['site.css', ...(page.styles ?? [])].map((name) => html`<link rel="stylesheet" href="${assets.url(name)}">\n`)}
${['copy.js', 'tabs.js', ...(page.modules ?? [])].map((name) => html`<script type="module" src="${assets.moduleUrl(name)}"></script>\n`)}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
${header(site, page)}
<main id="main">
${page.body}
</main>
${footer(site)}
</body>
</html>
`.text;
}

function header({ navigation, signUpPath }: Site, page: Page): Html {
  const link = ({ path, label }: NavigationLink, className = ''): Html => {
    const isCurrent = page.path === path || page.path.startsWith(`${path}/`);
    return html`<li><a href="${path}"${className && html` class="${className}"`}${isCurrent && html` aria-current="page"`}>${label}</a></li>`;
  };
  const account = page.viewer
    ? html`${link({ path: '/dashboard', label: 'Dashboard' })}<li class="viewer">${page.viewer.email}</li>`
    : html`${link({ path: '/signin', label: 'Sign in' })}${signUpPath && link({ path: signUpPath, label: 'Get an API key' }, 'start')}`;
  return html`<header class="site-header">
<a class="wordmark" href="/">Storybar</a>
<nav class="site-nav" aria-label="Site"><ul>${navigation.map((each) => link(each))}</ul></nav>
<nav aria-label="Your account"><ul>${account}</ul></nav>
</header>`;
}

function footer({ hasContact }: Site): Html {
  const links: readonly (readonly [string, string])[] = [
    ['/playground', 'Playground'],
    ['/docs', 'API reference'],
    ['/docs/quickstart', 'Quickstart'],
    ['/pricing', 'Pricing'],
    ['/changelog', 'Changelog'],
    ['/status', 'Status'],
    ...(hasContact ? [['/contact', 'Contact'] as const] : []),
    ['/openapi.json', 'OpenAPI'],
    ['/llms.txt', 'llms.txt'],
    ['/terms', 'Terms'],
    ['/privacy', 'Privacy'],
    ['/retention', 'Retention'],
  ];
  const items: Content = links.map(([path, label]) => html`<li><a href="${path}">${label}</a></li>`);
  return html`<footer class="site-footer">
<nav aria-label="More"><ul>${items}</ul></nav>
<p>No trackers. No third-party requests.</p>
</footer>`;
}
