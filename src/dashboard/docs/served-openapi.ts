// The OpenAPI document as this server sends it: with its own URL, and with the code of the example requests.

import { openApiDocument } from '../../http/reference/openapi.ts';
import { snippetsFor } from '../browser/snippets.ts';
import { EXAMPLE_REQUESTS } from '../example-requests.ts';

/** The parts that are replaced. */
interface Document {
  readonly paths: { readonly '/v1/overlay': { readonly post: object } } & Readonly<Record<string, object>>;
}

/** n8n has nodes instead of code. */
const LANGUAGES: Readonly<Record<string, string>> = { curl: 'Shell', javascript: 'JavaScript', python: 'Python' };

export function servedOpenApi(version: string, baseUrl: string): string {
  const document = openApiDocument(version) as unknown as Document;
  const { post } = document.paths['/v1/overlay'];
  const operation = { ...post, 'x-codeSamples': codeSamples(baseUrl) };
  const paths = { ...document.paths, '/v1/overlay': { post: operation } };
  return JSON.stringify({ ...document, servers: [{ url: baseUrl }], paths }, null, 2);
}

function codeSamples(baseUrl: string): object[] {
  return EXAMPLE_REQUESTS.flatMap(({ title, request }) =>
    snippetsFor({ ...request, baseUrl }).flatMap(({ id, label, code }) => {
      const lang = LANGUAGES[id];
      return lang === undefined ? [] : [{ lang, label: `${title} (${label})`, source: code }];
    }),
  );
}
