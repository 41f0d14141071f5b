// The HTML error page for browsers. Other clients get the same problem as JSON.

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
<h1>${status === 404 ? 'Page not found' : 'Something went wrong'}</h1>
<p>${detail}</p>
<p class="actions"><a class="button" href="/">Home</a> <a class="button quiet" href="/docs">Documentation</a></p>
<p class="small">Request ID <code>${instance}</code></p>
</section>`;
  return renderPage(site, { title: `${title} - Storybar`, description: detail, path: '', body });
}
