// The API reference: fields, headers and errors from the server's own tables, and calls to copy.

import { FAULTS } from '../http/reference/faults.ts';
import { FIELDS } from '../http/reference/openapi-form.ts';
import { RESPONSE_HEADERS } from '../http/reference/response-headers.ts';
import { PROBLEMS } from '../http/reference/statuses.ts';
import { snippetsFor } from './browser/snippets.ts';
import { DOCUMENTED_CALLS, type DocumentedCall } from './documented-calls.ts';
import { type Content, Html, html } from './html.ts';
import { inline } from './markdown-line.ts';
import type { Page } from './page.ts';
import { snippetTabs } from './snippet-tabs.ts';

const NEEDED: Readonly<Record<keyof typeof FIELDS, string>> = {
  asset: 'optional',
  width: 'without asset',
  height: 'without asset',
  text: 'this or overlays',
  overlays: 'this or text',
};

/** `contents` leads to the guides. */
export function referencePage(contents: Html, baseUrl: string): Page {
  return {
    title: 'API reference - Storybar',
    description: 'POST /v1/overlay: fields, headers, errors and examples.',
    path: '/docs',
    styles: ['docs.css'],
    body: html`<div class="docs wide">
${contents}
<article>
<h1>API reference</h1>
<p>One operation, <code>POST ${baseUrl}/v1/overlay</code>, <code>multipart/form-data</code>. The finished file is the body
of the answer. For programs: <a href="/openapi.json">openapi.json</a> and <a href="/llms.txt">llms.txt</a>.</p>
<h2 id="authentication">Authentication</h2>
<p>Send your key in <code>x-api-key</code>. Missing, unknown or revoked: 401. Suspended, or no active subscription: 403.
Both are decided before the body is read; with <code>Expect: 100-continue</code>, before it is sent.</p>
<h2 id="calls">Calls</h2>
${DOCUMENTED_CALLS.map((documented) => example(documented, baseUrl))}
<h2 id="fields">Fields</h2>
${table(['field', 'needed', 'meaning'], fieldRows())}
<p>A blank <code>text</code> or <code>overlays</code> counts as absent. Sending both, an unknown field or a field twice is
an error. An overlay is <code>{"text": string, "position"?: number}</code>; how positions work has
<a href="/docs/positions">a guide of its own</a>.</p>
<h2 id="idempotency">Sending again</h2>
<p>With an <code>idempotency-key</code> header of your choosing, the same request sent twice within 24 hours is rendered and
charged once; <a href="/docs/limits#sending-again">how that works</a>.</p>
<h2 id="headers">Headers of the answer</h2>
${table(['header', 'meaning'], headerRows())}
<h2 id="errors">Errors</h2>
<p>Every error is <code>application/problem+json</code> (RFC 9457) with a <code>code</code> that keeps its meaning.
<a href="/docs/errors">What to do about each</a>.</p>
${table(['status', 'code', 'title'], errorRows())}
<h2 id="faults">Faults inside <code>invalid_fields</code></h2>
${table(['fault', 'meaning'], faultRows())}
</article>
</div>`,
  };
}

function example({ id, title, words, call }: DocumentedCall, baseUrl: string): Html {
  return html`<h3 id="${id}">${title}</h3>
<p>${words}</p>
${snippetTabs(id, `${title}, in several languages`, snippetsFor({ ...call, baseUrl }))}`;
}

function table(head: readonly string[], rows: readonly (readonly Content[])[]): Html {
  return html`<div class="table" tabindex="0" role="group" aria-label="Table of ${head[0]}s"><table>
<thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`;
}

const words = (text: string): Html => new Html(inline(text));
const code = (text: string): Html => html`<code>${text}</code>`;

function fieldRows(): Content[][] {
  return (Object.keys(FIELDS) as (keyof typeof FIELDS)[]).map((name) => [
    code(name),
    NEEDED[name],
    words(FIELDS[name].description),
  ]);
}

function headerRows(): Content[][] {
  return Object.entries(RESPONSE_HEADERS).map(([name, { description }]) => [code(name), words(description)]);
}

function errorRows(): Content[][] {
  return Object.entries(PROBLEMS)
    .filter(([name]) => name !== 'client_closed')
    .toSorted(([, a], [, b]) => a.status - b.status)
    .map(([name, { status, title }]) => [status, html`<a href="/docs/errors#${name}">${code(name)}</a>`, title]);
}

function faultRows(): Content[][] {
  return Object.entries(FAULTS).map(([name, meaning]) => [code(name), words(meaning)]);
}
