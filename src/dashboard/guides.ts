// The guides: Markdown files in docs/, rendered as pages.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { GUIDE_FILES } from './guide-files.ts';
import { Html, html } from './html.ts';
import { type Article, renderMarkdown } from './markdown.ts';
import type { Page } from './page.ts';

export interface Guide extends Article {
  readonly slug: string;
}

/** The base URL in the guides' example requests; pages show the server's own instead. */
const EXAMPLE_URL = 'http://127.0.0.1:8080';

export async function loadGuides(docs: string): Promise<Guide[]> {
  return await Promise.all(
    GUIDE_FILES.map(async ([slug, file]) => ({
      slug,
      ...renderMarkdown(await readFile(path.join(docs, file), 'utf8')),
    })),
  );
}

export function guidePage(guides: readonly Guide[], guide: Guide, baseUrl: string): Page {
  const pagePath = `/docs/${guide.slug}`;
  return {
    title: `${guide.title} - Storybar`,
    description: guide.summary,
    path: pagePath,
    styles: ['docs.css'],
    body: html`<div class="docs wide">
${guideContents(guides, pagePath)}
<article>
<h1>${guide.title}</h1>
${new Html(guide.body.text.replaceAll(EXAMPLE_URL, baseUrl))}
</article>
</div>`,
  };
}

export function guideContents(guides: readonly Guide[], currentPath: string): Html {
  const links = [
    { path: '/docs', title: 'API reference' },
    ...guides.map(({ slug, title }) => ({ path: `/docs/${slug}`, title })),
  ];
  return html`<nav class="contents" aria-label="Documentation"><ul>
${links.map(
  (link) =>
    html`<li><a href="${link.path}"${link.path === currentPath && html` aria-current="page"`}>${link.title}</a></li>\n`,
)}
</ul></nav>`;
}
