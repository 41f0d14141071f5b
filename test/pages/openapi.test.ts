// The OpenAPI document is complete and matches the tables it is generated from.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { OUTPUT_FORMATS } from '../../src/caption/output-format.ts';
import { FAULTS } from '../../src/api/faults.ts';
import { RESPONSE_HEADERS } from '../../src/http/reference/response-headers.ts';
import { PROBLEMS } from '../../src/api/statuses.ts';

interface Operation {
  readonly responses: Readonly<
    Record<string, { description: string; headers: Record<string, unknown>; content?: Record<string, unknown> }>
  >;
}

interface Document {
  readonly openapi: string;
  readonly paths: {
    readonly '/v1/overlay': { readonly post: Operation };
    readonly '/v1/results/{name}': { readonly get: Operation };
  };
  readonly components: { readonly schemas: { readonly FieldFault: { properties: { code: { enum: string[] } } } } };
}

const text = readFileSync('docs/openapi.json', 'utf8');
const document = JSON.parse(text) as Document;

describe('docs/openapi.json', () => {
  it('has no dangling references', () => {
    const references = [...text.matchAll(/"\$ref": "#(?<pointer>[^"]+)"/gu)].map(
      (match) => match.groups?.['pointer'] ?? '',
    );
    expect(references.length).toBeGreaterThan(10);
    const broken = references.filter((pointer) => {
      let node: unknown = document;
      for (const step of pointer.split('/').slice(1)) node = (node as Record<string, unknown> | undefined)?.[step];
      return node === undefined;
    });
    expect(broken).toEqual([]);
  });

  it('lists every error code that a client can receive under its status', () => {
    const { responses } = document.paths['/v1/overlay'].post;
    const visible = Object.entries(PROBLEMS).filter(([code]) => code !== 'client_closed');
    const missing = visible.filter(
      ([code, { status }]) => responses[String(status)]?.description.includes(`\`${code}\``) !== true,
    );
    expect(missing).toEqual([]);
    expect(responses['499']).toBeUndefined();
    expect(document.components.schemas.FieldFault.properties.code.enum).toEqual(Object.keys(FAULTS));
  });

  it('lists the media type of every output format for finished files and for results', () => {
    const mediaTypes = Object.values(OUTPUT_FORMATS).map(({ mediaType }) => mediaType);
    const { '/v1/overlay': overlay, '/v1/results/{name}': result } = document.paths;
    expect(Object.keys(overlay.post.responses['200']?.content ?? {})).toEqual([...mediaTypes, 'application/json']);
    expect(Object.keys(result.get.responses['200']?.content ?? {})).toEqual(mediaTypes);
    expect(Object.keys(result.get.responses['206']?.content ?? {})).toEqual(mediaTypes);
  });

  it('lists every response header of a finished render', () => {
    const headers = Object.keys(document.paths['/v1/overlay'].post.responses['200']?.headers ?? {});
    expect(['content-type', ...headers]).toEqual(Object.keys(RESPONSE_HEADERS));
  });
});
