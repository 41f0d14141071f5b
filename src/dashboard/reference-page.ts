// The API reference: example requests, and the fields, headers and errors from the server's own tables.

import { FAULTS } from '../http/reference/faults.ts';
import { FIELDS } from '../http/reference/openapi-form.ts';
import { RESPONSE_HEADERS } from '../http/reference/response-headers.ts';
import { PROBLEMS } from '../http/reference/statuses.ts';
import { snippetsFor } from './browser/snippets.ts';
import { EXAMPLE_REQUESTS, type ExampleRequest } from './example-requests.ts';
import { type Content, Html, html } from './html.ts';
import { inline } from './markdown-line.ts';
import type { Page } from './page.ts';
import { snippetTabs } from './snippet-tabs.ts';
import { table } from './tables.ts';

const REQUIRED: Readonly<Record<keyof typeof FIELDS, string>> = {
  asset: 'no',
  asset_url: 'no',
  width: 'without an asset',
  height: 'without an asset',
  text: 'without overlays or captions',
  overlays: 'without text or captions',
  captions: 'without text or overlays',
  position: 'no',
  lang: 'no',
  strict: 'no',
  format: 'no',
  quality: 'no',
  async: 'no',
  deliver: 'no',
};

/** `contents` is the navigation of the documentation. */
export function referencePage(contents: Html, baseUrl: string): Page {
  return {
    title: 'API reference - Storybar',
    description: 'POST /v1/overlay: fields, headers, errors and examples in several languages.',
    path: '/docs',
    styles: ['docs.css'],
    body: html`<div class="docs wide">
${contents}
<article>
<h1>API reference</h1>
<p>There is one endpoint: <code>POST ${baseUrl}/v1/overlay</code> with <code>multipart/form-data</code>, or with JSON when
you upload no file. The response body is the finished file. Machine-readable: <a href="/openapi.json">openapi.json</a> and <a href="/llms.txt">llms.txt</a>.</p>
<h2 id="authentication">Authentication</h2>
<p>Send your API key in <code>x-api-key</code> or as <code>authorization: Bearer</code>. Missing, unknown or revoked keys return 401. Suspended accounts, or accounts
without a plan, return 403. We check this before reading the body. With <code>Expect: 100-continue</code>, your client
learns it before sending the body.</p>
<h2 id="examples">Example requests</h2>
${EXAMPLE_REQUESTS.map((request) => example(request, baseUrl))}
<h2 id="fields">Fields</h2>
${table('Fields', ['field', 'required', 'meaning'], fieldRows())}
<p>A blank <code>text</code> or <code>overlays</code> counts as absent. Sending both, an unknown field or the same field
twice is an error, except for repeated <code>overlays</code> with one object each. An overlay is
<code>{"text": string, "position"?: number, "lang"?: string}</code>; see
<a href="/docs/positions">Positions</a>.</p>
<h2 id="layout">Layout and usage</h2>
<p><code>POST /v1/layout</code> takes the size and the captions as JSON and returns where every bar would go, its lines, fonts and
warnings, and the price. <code>GET /v1/usage</code> returns your plan, credits and renders per day and key. Both are free.</p>
<h2 id="idempotency">Idempotent retries</h2>
<p>Send an <code>idempotency-key</code> header with a unique value to retry safely. The same request sent twice within 24
hours is rendered and charged once; see <a href="/docs/limits#idempotent-retries">Limits and credits</a>.</p>
<h2 id="headers">Response headers</h2>
${table('Response headers', ['header', 'meaning'], headerRows())}
<h2 id="errors">Errors</h2>
<p>Every error is <code>application/problem+json</code> (RFC 9457) with a stable <code>code</code>. See
<a href="/docs/errors">Errors</a> for how to fix each one.</p>
${table('Errors', ['status', 'code', 'title'], errorRows())}
<h2 id="field-errors">Field errors</h2>
<p>An <code>invalid_fields</code> error lists every invalid field in <code>errors</code>, each with a <code>pointer</code>,
a <code>detail</code> and one of these codes:</p>
${table('Field errors', ['code', 'meaning'], faultRows())}
</article>
</div>`,
  };
}

function example({ id, title, description, request }: ExampleRequest, baseUrl: string): Html {
  return html`<h3 id="${id}">${title}</h3>
<p>${description}</p>
${snippetTabs(id, `${title}, in several languages`, snippetsFor({ ...request, baseUrl }))}`;
}

const markdown = (text: string): Html => new Html(inline(text));
const code = (text: string): Html => html`<code>${text}</code>`;

function fieldRows(): Content[][] {
  return (Object.keys(FIELDS) as (keyof typeof FIELDS)[]).map((name) => [
    code(name),
    REQUIRED[name],
    markdown(FIELDS[name].description),
  ]);
}

function headerRows(): Content[][] {
  return Object.entries(RESPONSE_HEADERS).map(([name, { description }]) => [code(name), markdown(description)]);
}

function errorRows(): Content[][] {
  return Object.entries(PROBLEMS)
    .filter(([name]) => name !== 'client_closed')
    .toSorted(([, a], [, b]) => a.status - b.status)
    .map(([name, { status, title }]) => [status, html`<a href="/docs/errors#${name}">${code(name)}</a>`, title]);
}

function faultRows(): Content[][] {
  return Object.entries(FAULTS).map(([name, meaning]) => [code(name), markdown(meaning)]);
}
