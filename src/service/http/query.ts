// Parameters in the query of a request.

import type { FastifyRequest } from 'fastify';
import { STRING } from '../api/schema-parts.ts';
import { invalidFields } from '../../shared/errors.ts';
import { type Parameter, query } from './operation.ts';

interface NumberSchema {
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
}

const PAGE_LIMIT = { type: 'integer', minimum: 1, maximum: 100, default: 20 } as const;

/** The parameters that `pageOf` reads. */
export function pageParameters(limit: string): readonly Parameter[] {
  return [query('limit', limit, PAGE_LIMIT), query('cursor', '`next_cursor` of the page before.', STRING)];
}

/** Reads the requested page of a list, and other parameters. */
export function pageOf(request: FastifyRequest): {
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly text: (name: string) => string | undefined;
} {
  const limit = queryNumber(request, 'limit', PAGE_LIMIT);
  return { limit, cursor: queryText(request, 'cursor'), text: (name) => queryText(request, name) };
}

export function queryNumber(request: FastifyRequest, name: string, schema: NumberSchema): number {
  const text = queryText(request, name);
  if (text === undefined) return schema.default;
  const { minimum, maximum } = schema;
  const value = /^\d{1,4}$/u.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  const detail = `${name} must be a whole number from ${minimum} to ${maximum}.`;
  throw invalidFields([{ pointer: `#/${name}`, code: 'out_of_range', detail }]);
}

function queryText({ query: sent }: FastifyRequest, name: string): string | undefined {
  const value = ((sent ?? {}) as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
