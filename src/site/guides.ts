// The documentation: the API reference and the guides, Markdown files in docs/ that are rendered as pages.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { TRY_IT_MODULE } from './docs/try-it.ts';
import { GUIDE_FILES, GUIDE_GROUPS, type GuideGroup, guidePath } from './guide-files.ts';
import { Html, html } from './html.ts';
import { type Article, type Heading, renderMarkdown, TRY_IT_MARK } from './markdown.ts';
import type { Page } from './page.ts';

export interface Guide extends Article {
  readonly slug: string;
  readonly group: GuideGroup;
  /** The Markdown file. */
  readonly source: string;
}

interface DocsLink {
  readonly path: string;
  readonly title: string;
  readonly group: GuideGroup;
}

/** The base URLs in the guides' example requests; pages show the server's own instead. */
const EXAMPLE_URLS = /http:\/\/127\.0\.0\.1:8080|https:\/\/captions\.example\.com/gu;
const MIN_CONTENTS = 3;

export async function loadGuides(docs: string): Promise<Guide[]> {
  return await Promise.all(
    GUIDE_FILES.map(async ([slug, file, group = 'API']) => {
      const source = await readFile(path.join(docs, file), 'utf8');
      return { slug, group, source, ...renderMarkdown(source) };
    }),
  );
}

/** `tryIt` renders the form that sends a request, for a guide that marks a place for it. */
export function guidePage(guides: readonly Guide[], guide: Guide, baseUrl: string, tryIt: () => Html): Page {
  const pagePath = guidePath(guide.slug);
  const body = guide.body.text.replaceAll(EXAMPLE_URLS, baseUrl);
  return {
    title: `${guide.title} - Storybar`,
    description: guide.summary,
    path: pagePath,
    markdownPath: `${pagePath}.md`,
    styles: ['docs.css'],
    modules: ['search.js', ...(body.includes(TRY_IT_MARK) ? [TRY_IT_MODULE] : [])],
    body: docsBody(
      guides,
      pagePath,
      guide.headings,
      html`<h1>${guide.title}</h1>
${new Html(body.replace(TRY_IT_MARK, () => tryIt().text))}`,
    ),
  };
}

/** The layout of all documentation pages. */
function docsBody(guides: readonly Guide[], currentPath: string, headings: readonly Heading[], article: Html): Html {
  const sections = headings.filter(({ level }) => level === 2);
  return html`<div class="docs">
${guideContents(guides, currentPath)}
<article>
${article}
${neighbors(guides, currentPath)}
</article>
${
  sections.length >= MIN_CONTENTS &&
  html`<nav class="on-this-page" aria-label="On this page"><p>On this page</p><ul>
${sections.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}
</ul></nav>`
}
</div>`;
}

/** A guide as Markdown, for readers that aren't browsers. Comments are for generators and for the page. */
export function guideMarkdown({ source }: Pick<Guide, 'source'>, baseUrl: string): string {
  return source.replaceAll(/^<!--.*-->\n\n?/gmu, '').replaceAll(EXAMPLE_URLS, baseUrl);
}

/** Returns links in reading order, group by group. */
function docsLinks(guides: readonly Guide[]): DocsLink[] {
  const all = guides.map(({ slug, title, group }): DocsLink => ({ path: guidePath(slug), title, group }));
  return GUIDE_GROUPS.flatMap((group) => all.filter((link) => link.group === group));
}

function guideContents(guides: readonly Guide[], currentPath: string): Html {
  const links = docsLinks(guides);
  const item = (link: DocsLink): Html =>
    html`<li><a href="${link.path}"${link.path === currentPath && html` aria-current="page"`}>${link.title}</a></li>\n`;
  return html`<nav class="contents" aria-label="Documentation">
<div class="search-docs" role="search">
<label class="visually-hidden" for="search">Search the documentation</label>
<input id="search" type="search" placeholder="Search, or press /" autocomplete="off" data-search="/docs/search.json" disabled>
<div class="search-panel" data-search-panel hidden>
<p class="small" role="status" data-search-status></p>
<p class="small" data-search-hint hidden>Nothing found. Try the <a href="/docs/quickstart">Quickstart</a>, the
<a href="/docs">API reference</a>, <a href="/docs/limits">Limits and credits</a> or <a href="/docs/errors">Errors</a>.</p>
<ul data-search-results></ul>
</div>
</div>
<p class="to-pages"><a href="#all-pages">All pages</a></p>
<div class="contents-list" id="all-pages">
${GUIDE_GROUPS.map((group) => html`<p>${group}</p><ul>${links.filter((link) => link.group === group).map(item)}</ul>`)}
</div>
</nav>`;
}

function neighbors(guides: readonly Guide[], currentPath: string): Html | undefined {
  const links = docsLinks(guides);
  const index = links.findIndex((link) => link.path === currentPath);
  if (index === -1) return undefined;
  const [previous, next] = [links[index - 1], links[index + 1]];
  return html`<nav class="neighbors" aria-label="Previous and next page">
${previous && html`<a rel="prev" href="${previous.path}"><span class="small">Previous</span> ${previous.title}</a>`}
${next && html`<a rel="next" href="${next.path}"><span class="small">Next</span> ${next.title}</a>`}
</nav>`;
}
