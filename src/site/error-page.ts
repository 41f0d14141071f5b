// The HTML error page for browsers. Other clients get the same problem as JSON.

import { ERROR_DOCS_PATH, type ErrorPage, type Problem } from '../service/api/problem.ts';
import { snippetsFor } from './browser/snippets.ts';
import { EXAMPLE_REQUESTS } from './example-requests.ts';
import { type Html, html } from './html.ts';
import { PAGE_HEADERS, renderPage, type Site } from './page.ts';
import { codeBlock } from './snippet-tabs.ts';

export function errorPages(site: Site): ErrorPage {
  return {
    headers: { ...PAGE_HEADERS, 'cache-control': 'no-store' },
    render: (problem, path) => renderErrorPage(site, problem, path),
  };
}

function renderErrorPage(site: Site, problem: Problem, path: string): string {
  const { status, title, detail, instance, code } = problem;
  // Visitors open results in a browser on purpose, and a path that doesn't exist isn't an endpoint.
  const isApi = path.startsWith('/v1/') && !path.startsWith('/v1/results/') && code !== 'not_found';
  const body = html`<section class="notice">
${isApi ? apiAdvice(problem, path) : html`<h1 class="bar">${status === 404 ? 'Page not found' : title}</h1>\n<p>${detail}</p>`}
<p class="actions"><a class="button" href="/">Home</a> <a class="button quiet" href="/docs">Documentation</a></p>
<p class="small">Status ${status}. Request ID <code>${instance}</code></p>
</section>`;
  return renderPage(site, { title: `${title} - Storybar`, description: detail, path: '', body });
}

/** Advises a visitor who opened an API endpoint in a tab. */
function apiAdvice({ type, detail }: Problem, path: string): Html {
  const [example] = EXAMPLE_REQUESTS;
  // The URL isn't parsed, because the requested host can be one that URLs can't have, such as `x:99999`.
  const baseUrl = type.slice(0, type.lastIndexOf(ERROR_DOCS_PATH));
  const [curl] = example && /^\/v1\/overlay(?:\?|$)/u.test(path) ? snippetsFor({ ...example.request, baseUrl }) : [];
  return html`<h1 class="bar">This is an API endpoint</h1>
<p>Programs send requests to it, with an API key. ${detail}</p>
${curl && html`<p>With curl, for example, or <a href="/docs#try-it">from the API reference</a>:</p>${codeBlock(curl.code, 'Example request', curl.id)}`}`;
}
