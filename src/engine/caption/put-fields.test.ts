import { describe, expect, it } from 'vitest';
import { AppError, type FieldFault } from '../../shared/errors.ts';
import { parseForm } from './form.ts';
import { publicPartOf } from './put-fields.ts';

const URL_TEXT = 'https://bucket.example/a/b.png?X-Amz-Signature=abc';

function parse(values: Readonly<Record<string, unknown>>, isJson = true) {
  const fields = Object.entries({ text: 'Hi', ...values }).map(([name, value]) => ({ name, value }));
  try {
    return { put: parseForm({ fields, isJson, hasAsset: true, faults: [] }).delivery.put, faults: [] };
  } catch (error) {
    if (error instanceof AppError) return { put: undefined, faults: error.faults };
    throw error;
  }
}

const faultsOf = (values: Readonly<Record<string, unknown>>, isJson?: boolean): string[] =>
  parse(values, isJson).faults.map(({ pointer, code }: FieldFault) => `${pointer} ${code}`);

describe('put_url and put_headers', () => {
  it('a URL with headers is read from JSON and from a form, and names are lower case', () => {
    const headers = { 'Cache-Control': 'max-age=60', 'x-ms-blob-type': 'BlockBlob', 'x-goog-meta-a': '' };
    for (const put_headers of [headers, JSON.stringify(headers)]) {
      const { put, faults } = parse({ put_url: URL_TEXT, put_headers }, typeof put_headers !== 'string');
      expect(faults).toEqual([]);
      expect(put?.url).toBe(URL_TEXT);
      expect(put?.headers).toEqual({
        'cache-control': 'max-age=60',
        'x-ms-blob-type': 'BlockBlob',
        'x-goog-meta-a': '',
      });
    }
    expect(parse({ put_url: ' ', put_headers: '' }, false)).toEqual({ put: undefined, faults: [] });
  });

  it('other headers, values that could break out of a header, and too many are faults, without their values', () => {
    const bad = { authorization: 'Bearer hidden', host: 'x', 'x-amz-a': 'hidden\r\nx: y', 'x-amz-b': 7, 'x-amz-': 'é' };
    expect(faultsOf({ put_url: URL_TEXT, put_headers: bad })).toEqual([
      '#/put_headers/x-amz-a wrong_type',
      '#/put_headers/x-amz-b wrong_type',
      '#/put_headers/x-amz- wrong_type',
      '#/put_headers/authorization invalid_choice',
      '#/put_headers/host invalid_choice',
      '#/put_headers/x-amz- invalid_choice',
    ]);
    expect(JSON.stringify(parse({ put_url: URL_TEXT, put_headers: bad }).faults)).not.toContain('hidden');
    const many = Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`x-amz-meta-${n}`, 'v']));
    expect(faultsOf({ put_url: URL_TEXT, put_headers: many })).toEqual(['#/put_headers too_many']);
    expect(faultsOf({ put_url: URL_TEXT, put_headers: '{' }, false)).toEqual(['#/put_headers invalid_json']);
    expect(faultsOf({ put_url: URL_TEXT, put_headers: ['a'] })).toEqual(['#/put_headers wrong_type']);
  });

  it('a header in two spellings is a fault', () => {
    const put_headers = { 'X-Amz-Acl': 'private', 'x-amz-acl': 'public-read', 'cache-control': 'no-store' };
    expect(faultsOf({ put_url: URL_TEXT, put_headers })).toEqual(['#/put_headers/x-amz-acl duplicate']);
    expect(faultsOf({ put_url: URL_TEXT, put_headers: JSON.stringify(put_headers) }, false)).toHaveLength(1);
  });

  it('put_url excludes deliver, and put_headers need put_url', () => {
    expect(faultsOf({ put_url: URL_TEXT, deliver: 'url' })).toEqual(['#/put_url conflict']);
    expect(faultsOf({ put_url: URL_TEXT, deliver: 'bytes' })).toEqual(['#/put_url conflict']);
    expect(faultsOf({ put_headers: { 'x-amz-acl': 'private' } })).toEqual(['#/put_headers conflict']);
    expect(faultsOf({ put_url: 'ftp://bucket.example/a' })).toEqual(['#/put_url invalid_url']);
  });

  it('the query, a fragment and a password are not part of what is public', () => {
    expect(publicPartOf(`${URL_TEXT}#part`)).toBe('https://bucket.example/a/b.png');
    expect(publicPartOf('https://user:secret@bucket.example/a')).toBe('https://bucket.example/a');
    expect(publicPartOf('no URL?secret')).toBe('');
    expect(publicPartOf(7)).toBe('');
  });
});
