// The OpenAPI document as this server sends it: with its public URL, and with the code of the example requests.

import { openApiDocument } from '../../service/http/reference/openapi.ts';
import { snippetsFor } from '../browser/snippets.ts';
import { EXAMPLE_REQUESTS } from '../example-requests.ts';

/** The parts that are replaced. */
interface Document {
  readonly paths: { readonly '/v1/overlay': { readonly post: object } } & Readonly<Record<string, object>>;
}

/** n8n has nodes instead of code. */
const LANGUAGES: Readonly<Record<string, string>> = { curl: 'Shell', typescript: 'TypeScript', python: 'Python' };

/**
 * `publicUrl` is empty if the operator hasn't set one. Then `servers` is relative, because behind a proxy that
 * terminates TLS the requested host doesn't reveal the scheme that clients use. `baseUrl` is for code samples only.
 */
export function servedOpenApi(version: string, publicUrl: string, baseUrl: string): string {
  const document = openApiDocument(version) as unknown as Document;
  const { post } = document.paths['/v1/overlay'];
  const operation = { ...post, 'x-codeSamples': codeSamples(baseUrl) };
  const paths = { ...document.paths, '/v1/overlay': { post: operation } };
  return JSON.stringify({ ...document, servers: [{ url: publicUrl || '/' }], paths }, null, 2);
}

/** Keeps the last text, because building one takes milliseconds and nearly all clients use the same base URL. */
export function lastTextCache(build: (baseUrl: string) => string): (baseUrl: string) => string {
  let last: { readonly baseUrl: string; readonly text: string } | undefined;
  return (baseUrl) => {
    if (last?.baseUrl !== baseUrl) last = { baseUrl, text: build(baseUrl) };
    return last.text;
  };
}

function codeSamples(baseUrl: string): object[] {
  return EXAMPLE_REQUESTS.flatMap(({ title, request }) =>
    snippetsFor({ ...request, baseUrl }).flatMap(({ id, label, code }) => {
      const lang = LANGUAGES[id];
      return lang === undefined ? [] : [{ lang, label: `${title} (${label})`, source: code }];
    }),
  );
}
