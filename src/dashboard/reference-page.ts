// The API reference: example requests, and the fields, headers and errors from the server's own tables.

import { must } from '../primitives/must.ts';
import { FAULTS } from '../api/faults.ts';
import { FIELDS } from '../http/reference/openapi-form.ts';
import { RESPONSE_HEADERS } from '../http/reference/response-headers.ts';
import { PROBLEMS } from '../api/statuses.ts';
import { snippetsFor } from './browser/snippets.ts';
import { TRY_IT_MODULE } from './docs/try-it.ts';
import { EXAMPLE_REQUESTS, type ExampleRequest } from './example-requests.ts';
import { type Content, Html, html } from './html.ts';
import { docsBody, type Guide } from './guides.ts';
import { type Heading, headingWithLink } from './markdown.ts';
import { inline } from './markdown-line.ts';
import type { Page } from './page.ts';
import { codeBlock, snippetTabs } from './snippet-tabs.ts';
import { table } from './tables.ts';

const HEADINGS: readonly Heading[] = [
  { id: 'authentication', text: 'Authentication', level: 2 },
  { id: 'try-it', text: 'Try it', level: 2 },
  { id: 'examples', text: 'Example requests', level: 2 },
  { id: 'responses', text: 'Example responses', level: 2 },
  { id: 'fields', text: 'Fields', level: 2 },
  { id: 'layout', text: 'Layout and usage', level: 2 },
  { id: 'idempotency', text: 'Idempotent retries', level: 2 },
  { id: 'headers', text: 'Response headers', level: 2 },
  { id: 'errors', text: 'Errors', level: 2 },
  { id: 'field-errors', text: 'Field errors', level: 2 },
];

const REQUIRED: Readonly<Record<keyof typeof FIELDS, string>> = {
  asset: 'no',
  asset_url: 'no',
  width: 'without an asset',
  height: 'without an asset',
  text: 'without overlays or captions',
  overlays: 'without text or captions',
  captions: 'without text or overlays',
  max_words: 'no',
  max_lines: 'no',
  position: 'no',
  lang: 'no',
  style: 'no',
  safe_area: 'no',
  strict: 'no',
  format: 'no',
  quality: 'no',
  color_space: 'no',
  async: 'no',
  deliver: 'no',
  webhook_url: 'no',
};

export function referencePage(guides: readonly Guide[], baseUrl: string, tryIt: Html): Page {
  return {
    title: 'API reference - Storybar',
    description: 'POST /v1/overlay: fields, headers, errors and examples in several languages.',
    path: '/docs',
    markdownPath: '/docs.md',
    styles: ['docs.css'],
    modules: ['search.js', TRY_IT_MODULE],
    body: docsBody(guides, '/docs', HEADINGS, article(baseUrl, tryIt)),
  };
}

function article(baseUrl: string, tryIt: Html): Html {
  return html`<h1>API reference</h1>
<p>There is one endpoint: <code>POST ${baseUrl}/v1/overlay</code> with <code>multipart/form-data</code>, or with JSON when
you upload no file. The response body is the finished file. Machine-readable: <a href="/openapi.json">openapi.json</a> and <a href="/llms.txt">llms.txt</a>.</p>
${section('authentication')}
<p>Send your API key in <code>x-api-key</code> or as <code>authorization: Bearer</code>. Missing, unknown or revoked keys return 401. Suspended accounts, or accounts
without a plan, return 403. We check this before reading the body. With <code>Expect: 100-continue</code>, your client
learns it before sending the body.</p>
${section('try-it')}
<p>Send a real request from here. Change <code>position</code> to 101, for example, to see an error.</p>
${tryIt}
${section('examples')}
${EXAMPLE_REQUESTS.map((request) => example(request, baseUrl))}
${responses()}
${section('fields')}
${table('Fields', ['field', 'required', 'meaning'], fieldRows())}
<p>A blank <code>text</code> or <code>overlays</code> counts as absent. Sending both, an unknown field or the same field
twice is an error, except for repeated <code>overlays</code> with one object each. An overlay is
<code>{"text": string, "position"?: number, "lang"?: string, "style"?: string or object}</code>; see
<a href="/docs/positions">Positions</a>.</p>
${section('layout')}
<p><code>POST /v1/layout</code> takes the size and the captions as JSON and returns where every bar would go, its lines, fonts and
warnings, and the price. <code>GET /v1/usage</code> returns your plan, credits and renders per day and key. Both are free.</p>
${section('idempotency')}
<p>Send an <code>idempotency-key</code> header with a unique value to retry safely. The same request sent twice within 24
hours is rendered and charged once; see <a href="/docs/limits#idempotent-retries">Limits and credits</a>.</p>
${section('headers')}
${table('Response headers', ['header', 'meaning'], headerRows())}
${section('errors')}
<p>Every error is <code>application/problem+json</code> (RFC 9457) with a stable <code>code</code>. See
<a href="/docs/errors">Errors</a> for how to fix each one.</p>
${table('Errors', ['status', 'code', 'title'], errorRows())}
${section('field-errors')}
<p>An <code>invalid_fields</code> error lists every invalid field in <code>errors</code>, each with a <code>pointer</code>,
a <code>detail</code> and one of these codes:</p>
${table('Field errors', ['code', 'meaning'], faultRows())}`;
}

function section(id: string): Html {
  const { text, level } = must(
    HEADINGS.find((heading) => heading.id === id),
    `the heading ${id}`,
  );
  return headingWithLink(level, id, text);
}

/** A test compares the error with what the server sends. */
export const EXAMPLE_ERROR = {
  request: { overlays: [{ text: '' }, { text: 'Golden hour', position: 101 }], width: '1080', height: '1920' },
  errors: [
    { pointer: '#/overlays/0/text', code: 'blank' },
    { pointer: '#/overlays/1/position', code: 'out_of_range' },
  ],
} as const;

function responses(): Html {
  const success = `HTTP/1.1 200 OK
content-type: image/png
content-disposition: inline; filename="0b0e7a5c-3c1d-4a70-9f3e-6f0c2d1b8a11.png"
x-render-id: 0b0e7a5c-3c1d-4a70-9f3e-6f0c2d1b8a11
x-credits-charged: 1
x-credits-remaining: 9999

(the bytes of the PNG)`;
  const details = ["Caption can't be empty.", 'Position must be between 0 and 100; got 101.'];
  const failure = {
    type: '/docs/errors#invalid_fields',
    title: PROBLEMS.invalid_fields.title,
    status: PROBLEMS.invalid_fields.status,
    detail: 'The request has 2 errors.',
    instance: '4f1f2f0e-7d25-4a0f-8c56-0a2b4f0d9c77',
    code: 'invalid_fields',
    errors: EXAMPLE_ERROR.errors.map((error, index) => ({ ...error, detail: details[index] })),
  };
  return html`${section('responses')}
<p>A render returns the file itself:</p>
${codeBlock(success, 'A successful response')}
<p>An error returns <code>application/problem+json</code> with every fault of the request, each with a pointer to its field:</p>
${codeBlock(JSON.stringify(failure, null, 2), 'An error response', 'json')}`;
}

function example({ id, title, description, request }: ExampleRequest, baseUrl: string): Html {
  return html`${headingWithLink(3, id, title)}
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
