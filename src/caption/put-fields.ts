// `put_url` and `put_headers`: the finished file is sent to the caller's own storage.

import { parseUrlField, type UrlFault } from './asset-url.ts';
import type { FieldReader } from './field-reader.ts';
import { pointerTo, quoteValue, typeName } from './quote.ts';
import { MAX_PUT_HEADER_LENGTH, MAX_PUT_HEADERS } from './request-fields.ts';

export interface PutRequest {
  /** Its query is a secret, because it gives access to the caller's bucket. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

const HEADER_NAME = /^(?:cache-control|x-(?:amz|ms|goog)-[a-z0-9-]+)$/u;
const HEADER_VALUE = /^[\x20-\x7e]*$/u;

/** A blank field counts as absent. `checkUrl` returns the fault of a well-formed URL, if any. */
export function parsePut(
  fields: FieldReader,
  checkUrl: (url: URL, purpose: 'put') => UrlFault | undefined,
): PutRequest | undefined {
  const text = fields.text('put_url')?.trim() ?? '';
  const headers = parseHeaders(fields);
  if (text === '') {
    if (headers !== undefined && !fields.has('put_url')) {
      fields.add('put_headers', 'conflict', 'put_headers are for the request to put_url. Send put_url, too.');
    }
    return undefined;
  }
  if ((fields.text('deliver')?.trim() ?? '') !== '') {
    fields.add('put_url', 'conflict', 'Send either put_url or deliver. With put_url, the file goes only there.');
  }
  const url = parseUrlField('put_url', text);
  const fault = url instanceof URL ? checkUrl(url, 'put') : url;
  if (fault) fields.add('put_url', fault.code, fault.detail);
  return url instanceof URL ? { url, headers: headers ?? {} } : undefined;
}

/** Returns the part of the URL that isn't secret: scheme, host and path. Anything but a URL has none. */
export function publicPartOf(url: unknown): string {
  if (typeof url !== 'string' || !URL.canParse(url.trim())) return '';
  const { origin, pathname } = new URL(url.trim());
  return `${origin}${pathname}`;
}

function parseHeaders(fields: FieldReader): PutRequest['headers'] | undefined {
  const [value] = fields.all('put_headers');
  if (value === undefined || (typeof value === 'string' && value.trim() === '')) return undefined;
  const parsed = typeof value === 'string' && !fields.isJson ? fromJson(value) : value;
  if (parsed === INVALID) {
    fields.add('put_headers', 'invalid_json', "put_headers isn't valid JSON.");
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    fields.add('put_headers', 'wrong_type', `put_headers must be an object; got ${typeName(parsed)}.`);
    return undefined;
  }
  const entries = Object.entries(parsed).filter(([, header]) => header !== null);
  if (entries.length > MAX_PUT_HEADERS) {
    const detail = `put_headers can have at most ${MAX_PUT_HEADERS} headers; got ${entries.length}.`;
    fields.add('put_headers', 'too_many', detail);
  }
  return Object.fromEntries(entries.map(([name, header]) => [name.toLowerCase(), checkHeader(fields, name, header)]));
}

/** Values may be secrets, so no message repeats one. */
function checkHeader(fields: FieldReader, name: string, value: unknown): string {
  const pointer = `#/put_headers${pointerTo(name).slice(1)}`;
  const report = (code: 'invalid_choice' | 'wrong_type', detail: string): void => {
    fields.faults.push({ pointer, code, detail });
  };
  if (!HEADER_NAME.test(name.toLowerCase())) {
    const allowed = 'cache-control and names that begin with x-amz-, x-ms- or x-goog-';
    report('invalid_choice', `The header ${quoteValue(name)} can't be set. Allowed are ${allowed}.`);
  }
  if (typeof value === 'string' && value.length <= MAX_PUT_HEADER_LENGTH && HEADER_VALUE.test(value)) return value;
  report('wrong_type', `A header must be a string of up to ${MAX_PUT_HEADER_LENGTH} printable ASCII characters.`);
  return '';
}

const INVALID = Symbol('invalid JSON');

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return INVALID;
  }
}
