// The OpenAPI document is complete and matches the tables it is generated from.

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { OUTPUT_FORMATS } from '../../src/engine/caption/output-format.ts';
import { FAULTS } from '../../src/service/api/faults.ts';
import type { OperationGroup } from '../../src/service/http/operation.ts';
import { RESPONSE_HEADERS } from '../../src/service/http/reference/response-headers.ts';
import { ERRORS } from '../../src/shared/error-table.ts';

interface Response {
  readonly $ref?: string;
  readonly description: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Response>>;
}

interface Document {
  readonly openapi: string;
  readonly paths: {
    readonly '/v1/overlay': { readonly post: Operation };
    readonly '/v1/results/{name}': { readonly get: Operation };
  } & Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: {
      readonly FieldFault: { properties: { code: { enum: string[] } } };
      readonly Problem: { properties: { code: { enum: string[] } } };
    };
  };
}

const text = readFileSync('docs/openapi.json', 'utf8');
const document = JSON.parse(text) as Document;

describe('docs/openapi.json', () => {
  it('the OpenAPI document has no dangling references', () => {
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
    const listed = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) => Object.entries(responses))
      .flatMap(([status, { $ref = '' }]) => {
        const description = document.components.responses[$ref.split('/').at(-1) ?? '']?.description ?? '';
        return [...description.matchAll(/^`(?<code>\w+)`/gmu)].map((match) => `${status} ${match.groups?.['code']}`);
      });
    const all = Object.entries(ERRORS).map(([code, { status }]) => `${status} ${code}`);
    expect(listed.filter((one) => !all.includes(one))).toEqual([]);
    // The others are those of the site, of logs, and of requests outside the operations.
    expect(all.filter((one) => !listed.includes(one)).toSorted()).toEqual([
      '400 invalid_signature',
      '402 payment_failed',
      '403 form_refused',
      '403 role_not_allowed',
      '405 method_not_allowed',
      '499 client_closed',
      '503 payment_unavailable',
    ]);
    const { FieldFault, Problem } = document.components.schemas;
    expect(FieldFault.properties.code.enum).toEqual(Object.keys(FAULTS));
    expect(Problem.properties.code.enum).toEqual(Object.keys(ERRORS).filter((code) => code !== 'client_closed'));
  });

  it('has every operation that a route file describes, and no other', async () => {
    const folder = new URL('../../src/service/http/', import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /-routes?\.ts$/u.test(file),
    );
    const modules = await Promise.all(
      files.map(async (file) => (await import(new URL(file, folder).href)) as Readonly<Record<string, unknown>>),
    );
    const groups = modules.flatMap((module) =>
      Object.entries(module).flatMap(([name, value]) =>
        name.endsWith('_OPERATIONS') ? [value as OperationGroup] : [],
      ),
    );
    const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(groups.flatMap(({ operations }) => Object.keys(operations)).toSorted()).toEqual(
      described.map(({ operationId }) => operationId).toSorted(),
    );
  });

  it('lists the media type of every output format for finished files and for results', () => {
    const mediaTypes = Object.values(OUTPUT_FORMATS).map(({ mediaType }) => mediaType);
    const { '/v1/overlay': overlay, '/v1/results/{name}': result } = document.paths;
    expect(Object.keys(overlay.post.responses['200']?.content ?? {})).toEqual([...mediaTypes, 'application/*']);
    expect(Object.keys(result.get.responses['200']?.content ?? {})).toEqual(mediaTypes);
    expect(Object.keys(result.get.responses['206']?.content ?? {})).toEqual(mediaTypes);
  });

  it('lists every response header of a finished render', () => {
    const headers = Object.keys(document.paths['/v1/overlay'].post.responses['200']?.headers ?? {});
    expect(['content-type', ...headers]).toEqual(expect.arrayContaining(Object.keys(RESPONSE_HEADERS)));
  });
});
