// The OpenAPI document is complete and matches the tables it is generated from.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FAULTS } from '../../src/http/reference/faults.ts';
import { RESPONSE_HEADERS } from '../../src/http/reference/response-headers.ts';
import { PROBLEMS } from '../../src/http/reference/statuses.ts';

interface Document {
  readonly openapi: string;
  readonly paths: {
    readonly '/v1/overlay': {
      readonly post: { readonly responses: Record<string, { description: string; headers: Record<string, unknown> }> };
    };
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

  it('lists every response header of a finished render', () => {
    const headers = Object.keys(document.paths['/v1/overlay'].post.responses['200']?.headers ?? {});
    expect(['content-type', ...headers]).toEqual(Object.keys(RESPONSE_HEADERS));
  });
});
