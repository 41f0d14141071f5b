// The guides: Markdown files in docs/, rendered as pages.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { TRY_IT_MODULE } from './docs/try-it.ts';
import { GUIDE_FILES, GUIDE_GROUPS, type GuideGroup } from './guide-files.ts';
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

/** The base URL in the guides' example requests; pages show the server's own instead. */
const EXAMPLE_URL = 'http://127.0.0.1:8080';
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
  const pagePath = `/docs/${guide.slug}`;
  const body = guide.body.text.replaceAll(EXAMPLE_URL, baseUrl);
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
${new Html(body.replace(TRY_IT_MARK, () => html`<p>Or send it from this page:</p>${tryIt()}`.text))}`,
    ),
  };
}

/** Returns the layout of all documentation pages. */
export function docsBody(
  guides: readonly Guide[],
  currentPath: string,
  headings: readonly Heading[],
  article: Html,
): Html {
  const sections = headings.filter(({ level }) => level === 2);
  return html`<div class="docs wide">
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

/** Returns a guide as Markdown, for readers other than browsers. */
export function guideMarkdown({ source }: Pick<Guide, 'source'>, baseUrl: string): string {
  return source.replaceAll(EXAMPLE_URL, baseUrl);
}

/** Returns links in reading order, group by group. */
function docsLinks(guides: readonly Guide[]): DocsLink[] {
  const all: DocsLink[] = [
    ...guides.map(({ slug, title, group }) => ({ path: `/docs/${slug}`, title, group })),
    { path: '/docs', title: 'API reference', group: 'API' },
  ];
  const isReference = ({ path: link }: DocsLink): number => (link === '/docs' ? 0 : 1);
  return GUIDE_GROUPS.flatMap((group) =>
    all.filter((link) => link.group === group).toSorted((a, b) => isReference(a) - isReference(b)),
  );
}

function guideContents(guides: readonly Guide[], currentPath: string): Html {
  const links = docsLinks(guides);
  const item = (link: DocsLink): Html =>
    html`<li><a href="${link.path}"${link.path === currentPath && html` aria-current="page"`}>${link.title}</a></li>\n`;
  return html`<nav class="contents" aria-label="Documentation">
<div class="search-docs" role="search">
<label class="visually-hidden" for="search">Search the documentation</label>
<input id="search" type="search" placeholder="Search" autocomplete="off" data-search="/docs/search.json" disabled>
<ul data-search-results hidden></ul>
<p class="visually-hidden" role="status" data-search-status></p>
</div>
<details class="contents-list" open><summary>All pages</summary>
${GUIDE_GROUPS.map((group) => html`<p>${group}</p><ul>${links.filter((link) => link.group === group).map(item)}</ul>`)}
</details>
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
