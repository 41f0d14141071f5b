// An error, for a person in a browser. Programs get problem+json from the same table.

import type { ErrorPage, Problem } from '../http/reference/problem.ts';
import { html } from './html.ts';
import { PAGE_HEADERS, renderPage, type Site } from './page.ts';

export function errorPages(site: Site): ErrorPage {
  return {
    headers: { ...PAGE_HEADERS, 'cache-control': 'no-store' },
    render: (problem) => renderErrorPage(site, problem),
  };
}

function renderErrorPage(site: Site, { status, title, detail, instance }: Problem): string {
  const body = html`<section class="notice">
<p class="bar"><span class="position">${status}</span>${title}</p>
<h1>${status === 404 ? 'Nothing to caption here' : 'That did not work'}</h1>
<p>${detail}</p>
<p class="actions"><a class="button" href="/">Front page</a> <a class="button quiet" href="/docs">Documentation</a></p>
<p class="small">Reference <code>${instance}</code></p>
</section>`;
  return renderPage(site, { title: `${title} - Storybar`, description: detail, path: '', body });
}
