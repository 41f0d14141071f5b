// Reads the body of a form.

import type { FastifyRequest } from 'fastify';
import { AppError } from '../../shared/errors.ts';

const MAX_BYTES = 32 * 1024;

export class FormFields {
  readonly #fields: URLSearchParams;

  constructor(fields: URLSearchParams) {
    this.#fields = fields;
  }

  /** Returns an empty text when the field is missing. */
  text(name: string): string {
    return this.#fields.get(name) ?? '';
  }
}

export async function readFields(request: FastifyRequest): Promise<FormFields> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') {
    throw new AppError('unsupported_content_type', 'Send the form as application/x-www-form-urlencoded.');
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.raw as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new AppError('malformed_body', `The form is larger than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return new FormFields(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
}
